// Entry points of pinned, registered and managed memory, and of pointers of any kind.
#include <algorithm>

#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kInvalidDevice = -2;     // cudaInvalidDeviceId
constexpr int kCpu = -1;               // cudaCpuDeviceId
constexpr MemLocation kNowhere{1, 0};  // a hint that names no place: the device
constexpr unsigned kHostMapped = 2, kRegisterFlags = 15;

/// Is there such a place? Throws Failure if not.
void check_location(Runtime& r, const MemLocation& location) {
  constexpr int kDevice = 1, kHostNumaCurrent = 4;
  const bool is_device = location.type == kDevice && location.id != kCpu;
  if (is_device) r.check_device(location.id);
  require(location.type >= kDevice && location.type <= kHostNumaCurrent);
}

/// A hint about a range of managed memory, which changes nothing: it is where it is.
Status hint(const void* pointer, size_t bytes, const MemLocation& location = kNowhere,
            NW_CALL_SITE) {
  const OuterCall outer(site);
  return api([&](Runtime& r) {
    check_location(r, location);
    require(bytes != 0);
    const Memory::Region* region = r.memory.find(r, pointer);
    require(region != nullptr && region->kind == Memory::Kind::kManaged);
    r.memory.check_device_range(r, pointer, bytes);
    return kSuccess;
  });
}

/// In a stream. Of `num_locations` each is for the ranges from its index on; nullptr: none is
/// named.
Status hints(void* const* pointers, const size_t* sizes, size_t count, Stream stream,
             const MemLocation* locations = nullptr, const size_t* indices = nullptr,
             size_t num_locations = 0, NW_CALL_SITE) {
  const OuterCall outer(site);
  if (count == 0 || pointers == nullptr || sizes == nullptr) return failed(kErrorInvalidValue);
  if ((num_locations == 0) != (locations == nullptr) || num_locations > count ||
      (num_locations > 1 && indices == nullptr))
    return failed(kErrorInvalidValue);
  Status status = api([&](Runtime& r) {
    r.touch(stream);
    return kSuccess;
  });
  size_t place = 0;
  for (size_t i = 0; i < count && status == kSuccess; ++i) {
    while (place + 1 < num_locations && indices[place + 1] <= i) ++place;
    status = hint(pointers[i], sizes[i], num_locations == 0 ? kNowhere : locations[place]);
  }
  return status;
}

}  // namespace

NW_API cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return api([&](Runtime& r) {
    require((flags & ~kRegisterFlags) == 0);
    r.order.host_waited();  // as memory that is allocated as pinned
    r.memory.register_host(pointer, bytes, flags);
    return kSuccess;
  });
}
NW_API cudaHostUnregister(void* pointer) {
  return api([&](Runtime& r) {
    r.memory.unregister_host(r, pointer);
    r.order.host_waited();
    return kSuccess;
  });
}
NW_API cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api([&](Runtime& r) {
    require(device != nullptr && flags == 0);
    const Memory::Region* region = r.memory.find(r, host);
    if (region != nullptr) require(region->kind == Memory::Kind::kPinned);
    *device = region != nullptr ? host : r.memory.shadow(r, host);
    return kSuccess;
  });
}
NW_API cudaHostGetFlags(unsigned* flags, void* host) {
  return api([&](Runtime& r) {
    require(flags != nullptr);
    const Memory::Region* region = r.memory.find(r, host);
    if (region != nullptr) {
      require(region->kind == Memory::Kind::kPinned);
      *flags = region->flags | kHostMapped;
      return kSuccess;
    }
    const auto* entry = r.memory.registered(host);
    require(entry != nullptr);
    *flags = entry->second.flags | kHostMapped;
    return kSuccess;
  });
}

NW_API cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return api([&](Runtime& r) {
    require(attributes != nullptr);
    *attributes = {};
    void* const p = const_cast<void*>(pointer);
    uint64_t start = 0;
    const Memory::Region* region = r.memory.find(r, pointer, &start);
    // The end of an allocation is found with it, but is not its own.
    const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - start;
    if (region != nullptr && offset != 0 && offset == r.device().find_allocation(start)->bytes)
      region = nullptr;
    if (region != nullptr) {
      const bool device_only = region->kind == Memory::Kind::kDevice;
      attributes->type = device_only                              ? kMemoryDevice
                         : region->kind == Memory::Kind::kManaged ? kMemoryManaged
                                                                  : kMemoryHost;
      attributes->device = region->device;
      attributes->device_pointer = p;
      attributes->host_pointer = device_only ? nullptr : p;
    } else if (r.memory.registered(pointer) != nullptr) {
      attributes->type = kMemoryHost;
      attributes->host_pointer = p;
      attributes->device_pointer = r.memory.shadow(r, pointer);
    } else {
      attributes->type = kMemoryUnregistered;
      attributes->device = kInvalidDevice;
      attributes->host_pointer = p;
    }
    return kSuccess;
  });
}

NW_API cudaMemPrefetchAsync(const void* pointer, size_t bytes, MemLocation location, unsigned flags,
                            Stream stream) {
  if (flags != 0) return failed(kErrorInvalidValue);
  void* const p = const_cast<void*>(pointer);
  return hints(&p, &bytes, 1, stream, &location, nullptr, 1);
}
NW_API cudaMemAdvise(const void* pointer, size_t bytes, int advice, MemLocation location) {
  constexpr int kSetReadMostly = 1, kUnsetReadMostly = 2, kUnsetPreferredLocation = 4;
  if (advice < 1 || advice > 6) return failed(kErrorInvalidValue);
  // These kinds of advice are of no place, whichever is given.
  const bool of_none =
      advice == kSetReadMostly || advice == kUnsetReadMostly || advice == kUnsetPreferredLocation;
  return hint(pointer, bytes, of_none ? kNowhere : location);
}
NW_API cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                 MemLocation* locations, size_t* indices, size_t num_locations,
                                 unsigned long long flags, Stream stream) {
  if (flags != 0) return failed(kErrorInvalidValue);
  return hints(pointers, sizes, count, stream, locations, indices, num_locations);
}
NW_API cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                unsigned long long flags, Stream stream) {
  if (flags != 0) return failed(kErrorInvalidValue);
  return hints(pointers, sizes, count, stream);
}
NW_API cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                           MemLocation* locations, size_t* indices,
                                           size_t num_locations, unsigned long long flags,
                                           Stream stream) {
  if (flags != 0) return failed(kErrorInvalidValue);
  return hints(pointers, sizes, count, stream, locations, indices, num_locations);
}

/// Hints are not kept, so every range is as if none had been given.
NW_API cudaMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, const void* pointer,
                                size_t bytes) {
  const Status status = hint(pointer, bytes);
  if (status != kSuccess) return status;
  if (data == nullptr || data_bytes == 0 || data_bytes % sizeof(int) != 0 || attribute < 1 ||
      attribute > 8)
    return failed(kErrorInvalidValue);
  const bool is_zero = attribute == 1 || attribute == 5 || attribute == 7;
  std::fill_n(static_cast<int*>(data), data_bytes / sizeof(int), is_zero ? 0 : kInvalidDevice);
  return kSuccess;
}
NW_API cudaMemRangeGetAttributes(void** data, size_t* data_bytes, int* attributes, size_t count,
                                 const void* pointer, size_t bytes) {
  const OuterCall outer;
  if (data == nullptr || data_bytes == nullptr || attributes == nullptr)
    return failed(kErrorInvalidValue);
  Status status = kSuccess;
  for (size_t i = 0; i < count && status == kSuccess; ++i)
    status = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
  return status;
}
