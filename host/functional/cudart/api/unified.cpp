// Entry points of pinned, registered and managed memory, and of pointers of any kind.
#include <algorithm>

#include "host/functional/cudart/runtime.h"

using namespace nearwarp::cudart;

namespace {

constexpr int kInvalidDevice = -2;  // cudaInvalidDeviceId
constexpr unsigned kHostMapped = 2, kRegisterFlags = 15;

/// A hint about a range of managed memory, which changes nothing: it is where it is.
Status hint(const void* pointer, size_t bytes) {
  return api([&](Runtime& r) {
    require(bytes != 0);
    const Memory::Region* region = r.memory.find(r, pointer);
    require(region != nullptr && region->kind == Memory::Kind::kManaged);
    r.memory.check_device_range(r, pointer, bytes);
    return kSuccess;
  });
}

/// In a stream.
Status hints(void* const* pointers, const size_t* sizes, size_t count, Stream stream) {
  if (count == 0 || pointers == nullptr || sizes == nullptr)
    return last_error() = kErrorInvalidValue;
  Status status = api([&](Runtime& r) {
    r.touch(stream);
    return kSuccess;
  });
  for (size_t i = 0; i < count && status == kSuccess; ++i) status = hint(pointers[i], sizes[i]);
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
    if (const Memory::Region* region = r.memory.find(r, pointer)) {
      const bool device_only = region->kind == Memory::Kind::kDevice;
      attributes->type = device_only                              ? kMemoryDevice
                         : region->kind == Memory::Kind::kManaged ? kMemoryManaged
                                                                  : kMemoryHost;
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

NW_API cudaMemPrefetchAsync(const void* pointer, size_t bytes, MemLocation, unsigned,
                            Stream stream) {
  void* const p = const_cast<void*>(pointer);
  return hints(&p, &bytes, 1, stream);
}
NW_API cudaMemAdvise(const void* pointer, size_t bytes, int advice, MemLocation) {
  if (advice < 1 || advice > 6) return last_error() = kErrorInvalidValue;
  return hint(pointer, bytes);
}
NW_API cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count, MemLocation*,
                                 size_t*, size_t, unsigned long long, Stream stream) {
  return hints(pointers, sizes, count, stream);
}
NW_API cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count, unsigned long long,
                                Stream stream) {
  return hints(pointers, sizes, count, stream);
}
NW_API cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                           MemLocation*, size_t*, size_t, unsigned long long,
                                           Stream stream) {
  return hints(pointers, sizes, count, stream);
}

/// Hints are not kept, so every range is as if none had been given.
NW_API cudaMemRangeGetAttribute(void* data, size_t data_bytes, int attribute, const void* pointer,
                                size_t bytes) {
  const Status status = hint(pointer, bytes);
  if (status != kSuccess) return status;
  if (data == nullptr || data_bytes == 0 || data_bytes % sizeof(int) != 0 || attribute < 1 ||
      attribute > 8)
    return last_error() = kErrorInvalidValue;
  const bool is_zero = attribute == 1 || attribute == 5 || attribute == 7;
  std::fill_n(static_cast<int*>(data), data_bytes / sizeof(int), is_zero ? 0 : kInvalidDevice);
  return kSuccess;
}
NW_API cudaMemRangeGetAttributes(void** data, size_t* data_bytes, int* attributes, size_t count,
                                 const void* pointer, size_t bytes) {
  if (data == nullptr || data_bytes == nullptr || attributes == nullptr)
    return last_error() = kErrorInvalidValue;
  Status status = kSuccess;
  for (size_t i = 0; i < count && status == kSuccess; ++i)
    status = cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
  return status;
}
