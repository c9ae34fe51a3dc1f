// Memory that programs map by hand, for libcuda.so.1: the runtime's interface has nothing of it.
#pragma once

#include <cstddef>

#include "host/functional/cudart/abi.h"

extern "C" {
using NwMemoryHandle = unsigned long long;

nearwarp::cudart::Status nw_driver_reserve(void** start, size_t bytes, size_t alignment,
                                           void* wanted);
nearwarp::cudart::Status nw_driver_release_addresses(void* start, size_t bytes);
nearwarp::cudart::Status nw_driver_create_memory(NwMemoryHandle* handle, size_t bytes,
                                                 const nearwarp::cudart::PhysicalProps* properties);
nearwarp::cudart::Status nw_driver_import_memory(NwMemoryHandle* handle, int file);
/// A descriptor of its own.
nearwarp::cudart::Status nw_driver_export_memory(int* file, NwMemoryHandle handle);
nearwarp::cudart::Status nw_driver_retain_memory(NwMemoryHandle* handle, void* address);
nearwarp::cudart::Status nw_driver_release_memory(NwMemoryHandle handle);
nearwarp::cudart::Status nw_driver_memory_properties(nearwarp::cudart::PhysicalProps* properties,
                                                     NwMemoryHandle handle);
nearwarp::cudart::Status nw_driver_map(void* start, size_t bytes, NwMemoryHandle handle);
nearwarp::cudart::Status nw_driver_unmap(void* start, size_t bytes);
nearwarp::cudart::Status nw_driver_set_access(void* start, size_t bytes, int flags);
nearwarp::cudart::Status nw_driver_access(int* flags, void* address);
}
