// Copies as work of streams and graphs.
#pragma once

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/streams/graphs.h"

namespace nearwarp::cudart {

/// Copies of linear memory (Memory::copy()), and the time that they take.
Work copy_work(void* dst, const void* src, size_t bytes, int kind);

/// The work that copy_3d_work() makes.
struct BoxCopy {
  Copy3D copy;
  void operator()(Runtime& r) const;
};

/// A copy as cudaMemcpy3D() does it. Checks what can be checked now; throws Failure.
Work copy_3d_work(const Copy3D& copy);

}  // namespace nearwarp::cudart
