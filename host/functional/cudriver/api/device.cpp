// Entry points about devices.
#include <algorithm>
#include <cstring>

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

/// `body(const DeviceProp&)`.
template <class Body>
Status with_properties(Device device, Body&& body) {
  return call(Needs::kInitialization, [&] {
    DeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device));
    body(properties);
    return kSuccess;
  });
}

template <class... Parameters, class... Arguments>
Status of_device(Status (*entry_point)(Parameters...), Arguments... arguments) {
  return call(Needs::kInitialization, [&] { return entry_point(arguments...); });
}

}  // namespace

NW_CU cuDeviceGet(Device* device, int ordinal) {
  return call(Needs::kInitialization, [&] {
    require(device != nullptr);
    check_device(ordinal);
    *device = ordinal;
    return kSuccess;
  });
}
NW_CU cuDeviceGetCount(int* count) { return of_device(cudaGetDeviceCount, count); }
NW_CU cuDeviceGetName(char* name, int bytes, Device device) {
  return with_properties(device, [&](const DeviceProp& p) {
    require(name != nullptr && bytes > 0);
    const size_t length = std::min(static_cast<size_t>(bytes) - 1, std::strlen(p.name));
    std::memcpy(name, p.name, length);
    name[length] = '\0';
  });
}
NW_CU cuDeviceGetUuid_v2(char* uuid, Device device) {
  return with_properties(device, [&](const DeviceProp& p) {
    require(uuid != nullptr);
    std::memcpy(uuid, p.uuid, sizeof(p.uuid));
  });
}
NW_CU cuDeviceGetUuid(char* uuid, Device device) { return cuDeviceGetUuid_v2(uuid, device); }
NW_CU cuDeviceTotalMem_v2(size_t* bytes, Device device) {
  return with_properties(device, [&](const DeviceProp& p) {
    require(bytes != nullptr);
    *bytes = p.total_global_mem;
  });
}
NW_CU cuDeviceComputeCapability(int* major, int* minor, Device device) {
  return with_properties(device, [&](const DeviceProp& p) {
    require(major != nullptr && minor != nullptr);
    *major = p.major;
    *minor = p.minor;
  });
}
NW_CU cuDeviceGetProperties(DeviceProperties* properties, Device device) {
  return with_properties(device, [&](const DeviceProp& p) {
    constexpr int kClockRate = 13;
    require(properties != nullptr);
    int clock_khz = 0;
    check(cudaDeviceGetAttribute(&clock_khz, kClockRate, device));
    *properties = {p.max_threads_per_block,
                   {p.max_threads_dim[0], p.max_threads_dim[1], p.max_threads_dim[2]},
                   {p.max_grid_size[0], p.max_grid_size[1], p.max_grid_size[2]},
                   static_cast<int>(p.shared_mem_per_block),
                   static_cast<int>(p.total_const_mem),
                   p.warp_size,
                   static_cast<int>(p.mem_pitch),
                   p.regs_per_block,
                   clock_khz,
                   static_cast<int>(p.texture_alignment)};
  });
}
/// Both interfaces number attributes alike; those that only the driver has are of memory mapped by
/// hand, which there is, and of features that there are not.
NW_CU cuDeviceGetAttribute(int* value, int attribute, Device device) {
  constexpr int kVirtualMemory = 102, kFileDescriptors = 103;
  if (value != nullptr && (attribute == kVirtualMemory || attribute == kFileDescriptors))
    return with_properties(device, [&](const DeviceProp&) { *value = 1; });
  return of_device(cudaDeviceGetAttribute, value, attribute, device);
}
NW_CU cuDeviceGetPCIBusId(char* text, int bytes, Device device) {
  return of_device(cudaDeviceGetPCIBusId, text, bytes, device);
}
NW_CU cuDeviceGetByPCIBusId(Device* device, const char* text) {
  return of_device(cudaDeviceGetByPCIBusId, device, text);
}
NW_CU cuDeviceCanAccessPeer(int* can, Device device, Device peer) {
  return of_device(cudaDeviceCanAccessPeer, can, device, peer);
}
NW_CU cuDeviceGetP2PAttribute(int* value, int attribute, Device device, Device peer) {
  return of_device(cudaDeviceGetP2PAttribute, value, attribute, device, peer);
}
NW_CU cuDeviceGetGraphMemAttribute(Device device, int attribute, void* value) {
  return of_device(cudaDeviceGetGraphMemAttribute, device, attribute, value);
}
NW_CU cuDeviceSetGraphMemAttribute(Device device, int attribute, void* value) {
  return of_device(cudaDeviceSetGraphMemAttribute, device, attribute, value);
}
NW_CU cuDeviceGraphMemTrim(Device device) { return of_device(cudaDeviceGraphMemTrim, device); }
NW_CU cuDeviceGetDefaultMemPool(Pool** pool, Device device) {
  return of_device(cudaDeviceGetDefaultMemPool, pool, device);
}
NW_CU cuDeviceGetMemPool(Pool** pool, Device device) {
  return of_device(cudaDeviceGetMemPool, pool, device);
}
NW_CU cuDeviceSetMemPool(Device device, Pool* pool) {
  return of_device(cudaDeviceSetMemPool, device, pool);
}
NW_CU cuDeviceGetExecAffinitySupport(int* supported, int, Device device) {
  return with_properties(device, [&](const DeviceProp&) {
    require(supported != nullptr);
    *supported = 0;
  });
}

NW_CU cuProfilerStart() { return forward(cudaProfilerStart); }
NW_CU cuProfilerStop() { return forward(cudaProfilerStop); }

}  // namespace nearwarp::cudriver
