// Atomic operations, lane after lane in ascending order.
#pragma once

#include "device/exec/memory.h"
#include "device/exec/scalar.h"

namespace nearwarp::exec {

/// The new value of a word of type U under an atomic operation.
template <class U>
NW_HD inline U atomic_result(const MemDesc& desc, U old, U b, U c) {
  using S = std::make_signed_t<U>;
  using F = std::conditional_t<sizeof(U) == 4, float, double>;
  switch (desc.atomic) {
    case AtomOp::kAdd:
      return desc.is_float ? bits_as<U>(F(bits_as<F>(old) + bits_as<F>(b)))
                           : static_cast<U>(old + b);
    case AtomOp::kMin:
      if (desc.is_signed) return static_cast<S>(old) < static_cast<S>(b) ? old : b;
      return old < b ? old : b;
    case AtomOp::kMax:
      if (desc.is_signed) return static_cast<S>(old) > static_cast<S>(b) ? old : b;
      return old > b ? old : b;
    case AtomOp::kAnd:
      return old & b;
    case AtomOp::kOr:
      return old | b;
    case AtomOp::kXor:
      return old ^ b;
    case AtomOp::kExch:
      return b;
    case AtomOp::kCas:
      return old == b ? c : old;
    case AtomOp::kInc:
      return old >= b ? U{0} : static_cast<U>(old + 1);
    case AtomOp::kDec:
      return old == 0 || old > b ? b : static_cast<U>(old - 1);
    case AtomOp::kNone:
      break;
  }
  return old;
}

template <class U>
NW_HD inline void atomic_lanes(Context& ctx, Warp& warp, const MemDesc& desc, const Op& op,
                               uint32_t mask, uint8_t* const* host) {
  const U* b = row<U>(warp.rows, desc.operand_b);
  const U* c = row<U>(warp.rows, desc.operand_c);
  U* d = row<U>(warp.rows, op.d);
  U operand_b[kLanes], operand_c[kLanes];  // d may be the row of an operand
  std::memcpy(operand_b, b, sizeof(operand_b));
  std::memcpy(operand_c, c, sizeof(operand_c));
  for_each_lane(mask, [&](uint32_t lane) {
    U old;
    std::memcpy(&old, host[lane], sizeof(U));
    const U now = atomic_result<U>(desc, old, operand_b[lane], operand_c[lane]);
    if (now != old) {
      std::memcpy(host[lane], &now, sizeof(U));
      ctx.stored = true;
    }
    if (desc.has_result) d[lane] = old;
  });
}

NW_HD inline bool atomic_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ctx.polled |= desc.polls != 0;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  if (desc.bytes == 8)
    atomic_lanes<uint64_t>(ctx, warp, desc, op, mask, access.host);
  else
    atomic_lanes<uint32_t>(ctx, warp, desc, op, mask, access.host);
  return true;
}

}  // namespace nearwarp::exec
