// Copies of tensors' boxes, step by step.
#pragma once

#include "host/functional/instructions/decoded.h"

namespace nearwarp::exec {

/// One of kTensorSize to kTensorReduce. A step moves up to 32 pieces of 16 bytes and leaves one
/// record of their addresses in device memory, as though each were a lane's. False on a fault.
bool tensor(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask);

/// Bytes that an asynchronous copy, or a product of a warp group, accesses for a lane. A write is
/// `pending` until an arrival at an mbarrier says that copies are done.
struct CopiedBytes {
  uint32_t instruction = 0, lane = 0;
  const uint8_t* host = nullptr;
  uint32_t bytes = 0;
  bool write = false, pending = false;
  const uint8_t* value = nullptr;  ///< that is written
  /// A read that continues until it is waited for: a warp group's product reads its factors (any of
  /// its four warps may wait), and a bulk copy out of shared memory its source.
  enum class Late : uint8_t { kNo, kProduct, kStore } late = Late::kNo;
};
/// Tells the context's race detector, which there is.
void tell_copy(Context& ctx, const Warp& warp, const CopiedBytes& bytes);

/// The place of a generic address in device memory or shared memory; nullptr, with Context::fault
/// set, if it lies in neither. `access` says what for.
uint8_t* generic_place(Context& ctx, const MemDesc& access, uint32_t lane, uint64_t address,
                       uint32_t bytes);

}  // namespace nearwarp::exec
