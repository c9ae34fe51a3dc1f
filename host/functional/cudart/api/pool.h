// Pools of memory: cudaMemPool_t points to one.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>

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
  uint64_t used_high = 0;
  bool is_shareable = false;  ///< other processes may have it
  int file = -1;              ///< of another process: that one's device memory. Allocates nothing
};

/// The pool, if it is one. Throws Failure.
Pool& checked_pool(Pool* pool);
Pool* keep_pool(std::unique_ptr<Pool> pool);

}  // namespace nearwarp::cudart
