// Memory that the application has allocated, pinned or registered, and copies within and between
// these kinds.
//
// Device memory has the same addresses for kernels and for the host. Managed and pinned memory are
// allocations in it, so both sides use them in place. Memory of its own that the application
// registers has a shadow on the device: it is copied there before a launch, and back after it.
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
    bool variable = false;  ///< a variable of a module
    unsigned flags = 0;
    const void* pool = nullptr;  ///< the pool that it was allocated from; null: none
    int device = 0;              ///< the pool's, or the one that was current at the allocation
  };
  struct Registered {
    size_t bytes = 0;
    unsigned flags = 0;
    runtime::DevicePtr shadow = 0;  ///< 0: none yet
  };

  /// Throws Failure if the device's memory is exhausted.
  void* allocate(Process& process, size_t bytes, Kind kind, unsigned flags = 0);
  /// Allocate device memory for a pool. Throws Failure if the device's memory is exhausted.
  void* allocate_from(Process& process, const void* pool, int device, size_t bytes);
  /// Bytes that a pool has allocated and not yet freed.
  uint64_t bytes_of_pool(const void* pool) const {
    const auto it = pool_bytes_.find(pool);
    return it == pool_bytes_.end() ? 0 : it->second;
  }
  /// Free an allocation. Throws Failure unless `pointer` came from allocate(), with Kind::kPinned
  /// if `pinned`, else with another kind.
  void free(Process& process, void* pointer, bool pinned);
  /// Free all of a device's allocations except the variables of modules.
  void free_all(Process& process, int device);
  void add_managed_variable(runtime::DevicePtr address);

  void register_host(void* pointer, size_t bytes, unsigned flags);
  void unregister_host(Process& process, void* pointer);
  /// The registered range (start and description) that `pointer` lies in; nullptr if there is none.
  const std::map<uint64_t, Registered>::value_type* registered(const void* pointer) const;
  /// The device address of registered memory; allocates its shadow the first time.
  void* shadow(Process& process, const void* pointer);
  /// Copy registered memory to its shadows before a launch, and back after it.
  void copy_in(Process& process);
  void copy_out(Process& process);

  /// The region that `pointer` lies in; nullptr if there is none. `start` gets its address.
  const Region* find(Process& process, const void* pointer, uint64_t* start = nullptr) const;

  /// Copy, as cudaMemcpy() does. Throws Failure for ranges outside of allocations, memory that
  /// cannot be accessed, and a kind (direction) that does not fit the pointers.
  void copy(Process& process, void* dst, const void* src, size_t bytes, int kind);
  void fill(Process& process, void* dst, int value, size_t bytes);
  /// Has pageable host memory been copied since the last call?
  bool take_pageable() { return std::exchange(pageable_, false); }
  /// Throws Failure unless [pointer, pointer + bytes) lies inside one allocation.
  void check_device_range(Process& process, const void* pointer, size_t bytes) const;

 private:
  void* allocate(Process& process, size_t bytes, const Region& region);

  /// Return an allocation to the device, and its bytes to its pool.
  void give_back(Process& process, uint64_t address, const Region& region);

  std::map<uint64_t, Region> regions_;  // by start
  std::unordered_map<const void*, uint64_t> pool_bytes_;
  std::map<uint64_t, Registered> registered_;
  bool pageable_ = false;
};

}  // namespace nearwarp::cudart
