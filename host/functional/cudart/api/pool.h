// Pools of memory: cudaMemPool_t points to one.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>

#include "host/functional/cudart/memory/memory.h"

namespace nearwarp::cudart {

struct Pool {
  Pool() = default;
  ~Pool() {
    if (file >= 0) close(file);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int device = 0;  ///< whose memory it is
  int reuse[3] = {1, 1, 1};
  uint64_t release_threshold = 0;
  uint64_t max_bytes = 0;  ///< 0: as many as the device has
  /// Bytes that it has, in use or not, as of its last change: see settle().
  uint64_t reserved = 0;
  uint64_t used_high = 0, reserved_high = 0;
  std::map<int, int> access;  ///< of other devices, as far as told

  /// Memory that is freed stays up to the threshold: work is done in the calls that ask for it, so
  /// that the next synchronization, at which the rest goes, might always be at once.
  void settle(uint64_t used) { reserved = std::max(used, std::min(reserved, release_threshold)); }

  bool is_shareable = false;  ///< other processes may have it
  int file = -1;              ///< of another process: that one's device memory. Allocates nothing
};

/// Bytes that all pools keep for later. Who asks for memory in another way gets them all the same.
uint64_t idle_pool_bytes(const Memory& memory);

/// The pool, if it is one. Throws Failure.
Pool& checked_pool(Pool* pool);
Pool* keep_pool(std::unique_ptr<Pool> pool);

}  // namespace nearwarp::cudart
