// Copies, made into work items for streams and graphs.
#pragma once

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/streams/graphs.h"

namespace nearwarp::cudart {

/// The work of copying linear memory (Memory::copy()), with the time that it takes.
Work copy_work(void* dst, const void* src, size_t bytes, int kind);

/// The work item that copy_3d_work() returns.
struct BoxCopy {
  Copy3D copy;
  void operator()(Runtime& r) const;
};

/// The work of a copy as cudaMemcpy3D() does it. Throws Failure for errors that can be found before
/// it is executed.
Work copy_3d_work(const Copy3D& copy);

}  // namespace nearwarp::cudart
