// Calls of libcuda.so.1 for memory that programs map by hand.
#include "host/functional/cudart/api/virtual_memory.h"

#include <fcntl.h>

#include "host/functional/cudart/runtime/runtime.h"

using namespace nearwarp::cudart;

#define NW_LINK(type) extern "C" __attribute__((visibility("default"))) type

namespace {
uint64_t number(const void* p) { return reinterpret_cast<uint64_t>(p); }
}  // namespace

NW_LINK(Status) nw_driver_reserve(void** start, size_t bytes, size_t alignment, void* wanted) {
  return api([&](Runtime& r) {
    require(start != nullptr);
    *start = reinterpret_cast<void*>(r.virtual_memory.reserve(r, bytes, alignment, number(wanted)));
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_release_addresses(void* start, size_t bytes) {
  return api([&](Runtime& r) {
    r.virtual_memory.release(number(start), bytes);
    return kSuccess;
  });
}
NW_LINK(Status)
nw_driver_create_memory(NwMemoryHandle* handle, size_t bytes, const PhysicalProps* properties) {
  return api([&](Runtime& r) {
    constexpr int kDevice = 1;
    require(handle != nullptr && properties != nullptr && properties->location.type == kDevice);
    require(properties->location.id == 0, kErrorInvalidDevice);
    *handle = r.virtual_memory.create(r, bytes, *properties);
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_import_memory(NwMemoryHandle* handle, int file) {
  return api([&](Runtime& r) {
    require(handle != nullptr);
    r.device();
    *handle = r.virtual_memory.import(file);
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_export_memory(int* file, NwMemoryHandle handle) {
  return api([&](Runtime& r) {
    require(file != nullptr);
    const PhysicalMemory& memory = r.virtual_memory.memory(handle);
    require(memory.properties().handle_types != 0);
    *file = fcntl(memory.file(), F_DUPFD_CLOEXEC, 0);
    require(*file >= 0, kErrorOperatingSystem);
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_retain_memory(NwMemoryHandle* handle, void* address) {
  return api([&](Runtime& r) {
    require(handle != nullptr);
    *handle = r.virtual_memory.retain(number(address));
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_release_memory(NwMemoryHandle handle) {
  return api([&](Runtime& r) {
    r.virtual_memory.release(handle);
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_memory_properties(PhysicalProps* properties, NwMemoryHandle handle) {
  return api([&](Runtime& r) {
    require(properties != nullptr);
    *properties = r.virtual_memory.memory(handle).properties();
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_map(void* start, size_t bytes, NwMemoryHandle handle) {
  return api([&](Runtime& r) {
    r.virtual_memory.map(r, number(start), bytes, handle);
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_unmap(void* start, size_t bytes) {
  return api([&](Runtime& r) {
    r.virtual_memory.unmap(r, number(start), bytes);
    r.order.host_waited();
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_set_access(void* start, size_t bytes, int flags) {
  return api([&](Runtime& r) {
    r.virtual_memory.set_access(r, number(start), bytes, flags);
    return kSuccess;
  });
}
NW_LINK(Status) nw_driver_access(int* flags, void* address) {
  return api([&](Runtime& r) {
    require(flags != nullptr);
    *flags = r.virtual_memory.access(number(address));
    return kSuccess;
  });
}
