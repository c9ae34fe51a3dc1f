// Memory that the application has allocated, pinned or registered, and copies between all of it.
//
// Device memory lies at the same addresses for kernels and for the host. Managed and pinned memory
// are allocations there, so both sides use them as they are. Memory that the application registers
// itself has a shadow on the device, which is brought up to date around launches.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/process.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::cudart {

class Memory {
 public:
  enum class Kind : uint8_t { kDevice, kManaged, kPinned };
  struct Region {
    Kind kind = Kind::kDevice;
    bool variable = false;  ///< of a module
    unsigned flags = 0;
    const void* pool = nullptr;  ///< that it was allocated from
    int device = 0;              ///< the pool's, or the one that was current then
  };
  struct Registered {
    size_t bytes = 0;
    unsigned flags = 0;
    runtime::DevicePtr shadow = 0;  ///< 0: none yet
  };

  /// Throws Failure if the device's memory is exhausted.
  void* allocate(Process& process, size_t bytes, Kind kind, unsigned flags = 0);
  /// Allocates device memory for a pool; throws as allocate().
  void* allocate_from(Process& process, const void* pool, int device, size_t bytes);
  /// Bytes that a pool has allocated and not yet freed.
  uint64_t bytes_of_pool(const void* pool) const {
    const auto it = pool_bytes_.find(pool);
    return it == pool_bytes_.end() ? 0 : it->second;
  }
  /// Throws Failure unless `pointer` came from allocate() with a kind that `pinned` asks for.
  void free(Process& process, void* pointer, bool pinned);
  /// All of a device but the variables of modules.
  void free_all(Process& process, int device);
  void add_managed_variable(runtime::DevicePtr address);

  void register_host(void* pointer, size_t bytes, unsigned flags);
  void unregister_host(Process& process, void* pointer);
  /// The registered range that `pointer` lies in: its start, or nullptr.
  const std::map<uint64_t, Registered>::value_type* registered(const void* pointer) const;
  /// Device address of registered memory.
  void* shadow(Process& process, const void* pointer);
  /// Bring registered memory to the device, before a launch, and back, after it.
  void copy_in(Process& process);
  void copy_out(Process& process);

  /// The region that `pointer` lies in; nullptr if there is none. `start` gets its address.
  const Region* find(Process& process, const void* pointer, uint64_t* start = nullptr) const;

  /// Copy; throws Failure for ranges outside of allocations, memory that cannot be accessed, and a
  /// kind that does not fit.
  void copy(Process& process, void* dst, const void* src, size_t bytes, int kind);
  void fill(Process& process, void* dst, int value, size_t bytes);
  /// Since the last time, has memory been copied that is neither the device's nor pinned?
  bool take_pageable() { return std::exchange(pageable_, false); }
  /// [pointer, pointer + bytes) lies inside one allocation. Throws Failure otherwise.
  void check_device_range(Process& process, const void* pointer, size_t bytes) const;

 private:
  void* allocate(Process& process, size_t bytes, const Region& region);

  /// Forgets what is known of an allocation, and gives it back.
  void forget(Process& process, uint64_t address, const Region& region);

  std::map<uint64_t, Region> regions_;  // by start
  std::unordered_map<const void*, uint64_t> pool_bytes_;
  std::map<uint64_t, Registered> registered_;
  bool pageable_ = false;
};

}  // namespace nearwarp::cudart
