// Entry points of memory that programs map by hand.
#include "host/functional/cudart/api/virtual_memory.h"

#include "host/functional/cudriver/driver.h"

namespace nearwarp::cudriver {

namespace {

constexpr size_t kGranularity = size_t{2} << 20;
constexpr int kDeviceLocation = 1, kFileDescriptor = 1;

void check_location(const MemLocation& location) {
  require(location.type == kDeviceLocation);
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  require(location.id >= 0 && location.id < devices, kErrorInvalidDevice);
}

}  // namespace

NW_CU cuMemGetAllocationGranularity(size_t* granularity, const PhysicalProps* properties,
                                    int which) {
  return call(Needs::kInitialization, [&] {
    constexpr int kPinned = 1;
    require(granularity != nullptr && properties != nullptr && properties->type == kPinned);
    require(which == 0 || which == 1);  // the least, the recommended one
    check_location(properties->location);
    *granularity = kGranularity;
    return kSuccess;
  });
}
NW_CU cuMemAddressReserve(DevicePtr* start, size_t bytes, size_t alignment, DevicePtr wanted,
                          unsigned long long flags) {
  return call([&] {
    require(start != nullptr && flags == 0);
    void* p = nullptr;
    check(nw_driver_reserve(&p, bytes, alignment, pointer(wanted)));
    *start = address(p);
    return kSuccess;
  });
}
NW_CU cuMemAddressFree(DevicePtr start, size_t bytes) {
  return call([&] { return nw_driver_release_addresses(pointer(start), bytes); });
}
NW_CU cuMemCreate(NwMemoryHandle* handle, size_t bytes, const PhysicalProps* properties,
                  unsigned long long flags) {
  return call([&] {
    require(flags == 0);
    return nw_driver_create_memory(handle, bytes, properties);
  });
}
NW_CU cuMemRelease(NwMemoryHandle handle) {
  return call([&] { return nw_driver_release_memory(handle); });
}
NW_CU cuMemRetainAllocationHandle(NwMemoryHandle* handle, void* at) {
  return call([&] { return nw_driver_retain_memory(handle, at); });
}
NW_CU cuMemGetAllocationPropertiesFromHandle(PhysicalProps* properties, NwMemoryHandle handle) {
  return call([&] { return nw_driver_memory_properties(properties, handle); });
}
NW_CU cuMemMap(DevicePtr start, size_t bytes, size_t offset, NwMemoryHandle handle,
               unsigned long long flags) {
  return call([&] {
    require(offset == 0 && flags == 0);
    return nw_driver_map(pointer(start), bytes, handle);
  });
}
NW_CU cuMemUnmap(DevicePtr start, size_t bytes) {
  return call([&] { return nw_driver_unmap(pointer(start), bytes); });
}
NW_CU cuMemSetAccess(DevicePtr start, size_t bytes, const AccessDesc* access, size_t count) {
  return call([&] {
    require(access != nullptr && count != 0);
    for (size_t i = 0; i < count; ++i) check_location(access[i].location);
    return nw_driver_set_access(pointer(start), bytes, access[count - 1].flags);
  });
}
NW_CU cuMemGetAccess(unsigned long long* flags, const MemLocation* location, DevicePtr at) {
  return call([&] {
    require(flags != nullptr && location != nullptr);
    check_location(*location);
    int value = 0;
    check(nw_driver_access(&value, pointer(at)));
    *flags = static_cast<unsigned long long>(value);
    return kSuccess;
  });
}
NW_CU cuMemExportToShareableHandle(void* file, NwMemoryHandle handle, int type,
                                   unsigned long long flags) {
  return call([&] {
    require(file != nullptr && flags == 0);
    require(type == kFileDescriptor, kErrorNotSupported);
    return nw_driver_export_memory(static_cast<int*>(file), handle);
  });
}
NW_CU cuMemImportFromShareableHandle(NwMemoryHandle* handle, void* file, int type) {
  return call([&] {
    require(type == kFileDescriptor, kErrorNotSupported);
    // The descriptor is handed over as a pointer.
    return nw_driver_import_memory(handle, static_cast<int>(address(file)));
  });
}

}  // namespace nearwarp::cudriver
