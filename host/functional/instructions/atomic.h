// Atomic operations, lane after lane in ascending order.
#pragma once

#include "host/functional/instructions/memory.h"
#include "host/functional/instructions/scalar.h"

namespace nearwarp::exec {

/// Halves and pairs of halves, out of line.
bool atomic_half(const MemDesc& desc, uint32_t old, uint32_t b, uint32_t* now);

/// mbarrier.arrive and its like: a phase whose arrivals and bytes are complete begins the next one.
NW_HD inline uint64_t arrive(uint64_t word, uint64_t change) {
  using Word = MbarrierWord;
  uint64_t pending = (word - change) & Word::kCount;
  const uint64_t expected =
      ((word >> Word::kExpectedShift) - (change >> Word::kExpectedShift)) & Word::kCount;
  const uint64_t bytes =
      ((word >> Word::kBytesShift) + (change >> Word::kBytesShift)) & Word::kBytes;
  uint64_t phase = word & uint64_t{1} << Word::kPhaseShift;
  if (pending == 0 && bytes == 0) {
    pending = expected;
    phase ^= uint64_t{1} << Word::kPhaseShift;
  }
  return pending | expected << Word::kExpectedShift | bytes << Word::kBytesShift | phase;
}

template <class U>
NW_HD inline U atomic_word(const MemDesc& desc, U old, U b, U c) {
  using S = std::make_signed_t<U>;
  using F = std::conditional_t<sizeof(U) == 4, float, double>;
  if (sizeof(U) == 4 && desc.is_float > 1) {
    uint32_t now = 0;
    atomic_half(desc, static_cast<uint32_t>(old), static_cast<uint32_t>(b), &now);
    return static_cast<U>(now);
  }
  switch (desc.atomic) {
    case AtomOp::kAdd:
      return desc.is_float ? bits_as<U>(F(bits_as<F>(old) + bits_as<F>(b)))
                           : static_cast<U>(old + b);
    case AtomOp::kMin:
      if (desc.is_float) return bits_as<U>(float_min(bits_as<F>(old), bits_as<F>(b)));
      if (desc.is_signed) return static_cast<S>(old) < static_cast<S>(b) ? old : b;
      return old < b ? old : b;
    case AtomOp::kMax:
      if (desc.is_float) return bits_as<U>(float_max(bits_as<F>(old), bits_as<F>(b)));
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
    case AtomOp::kArrive:
      return static_cast<U>(arrive(old, b));
    case AtomOp::kNone:
      break;
  }
  return old;
}

/// The new value of a word of type U under an atomic operation.
template <class U>
NW_HD inline U atomic_result(const MemDesc& desc, U old, U b, U c) {
  if constexpr (sizeof(U) == 2) {
    if (desc.is_float != 0 && desc.atomic != AtomOp::kExch && desc.atomic != AtomOp::kCas) {
      uint32_t now = 0;
      atomic_half(desc, old, b, &now);
      return static_cast<U>(now);
    }
    return desc.atomic == AtomOp::kCas ? (old == b ? c : old) : b;
  } else {
    return atomic_word<U>(desc, old, b, c);
  }
}

template <class U>
NW_HD inline void atomic_lanes(Context& ctx, Warp& warp, const MemDesc& desc, const Op& op,
                               uint32_t mask, uint8_t* const* host) {
  using Lane = std::conditional_t<sizeof(U) == 8, uint64_t, uint32_t>;  // of a row
  const Lane* b = row<Lane>(warp.rows, desc.operand_b);
  const Lane* c = row<Lane>(warp.rows, desc.operand_c);
  Lane* d = row<Lane>(warp.rows, op.d);
  Lane operand_b[kLanes], operand_c[kLanes];  // d may be the row of an operand
  std::memcpy(operand_b, b, sizeof(operand_b));
  std::memcpy(operand_c, c, sizeof(operand_c));
  for_each_lane(mask, [&](uint32_t lane) {
    U old;
    std::memcpy(&old, host[lane], sizeof(U));
    const U now = atomic_result<U>(desc, old, static_cast<U>(operand_b[lane]),
                                   static_cast<U>(operand_c[lane]));
    if (now != old) {
      std::memcpy(host[lane], &now, sizeof(U));
      ctx.stored = true;
    }
    if (desc.has_result) d[lane] = old;
  });
}

/// Exchange, and compare and exchange, of pairs of 64-bit words.
NW_HD inline void atomic_pairs(Context& ctx, Warp& warp, const MemDesc& desc, uint32_t mask,
                               uint8_t* const* host) {
  struct Pair {
    uint64_t low, high;
    bool operator==(const Pair& o) const { return low == o.low && high == o.high; }
  };
  const auto operands = [&](uint16_t low, uint16_t high, Pair* to) {
    const uint64_t* l = row<uint64_t>(warp.rows, low);
    const uint64_t* h = row<uint64_t>(warp.rows, high);
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = {l[i], h[i]};
  };
  const bool compares = desc.atomic == AtomOp::kCas;
  Pair b[kLanes], c[kLanes];  // copies: the result may take the operands' rows
  operands(desc.operand_b, desc.rows[2], b);
  if (compares) operands(desc.operand_c, desc.rows[3], c);
  for_each_lane(mask, [&](uint32_t lane) {
    Pair old;
    std::memcpy(&old, host[lane], sizeof(old));
    const Pair now = !compares ? b[lane] : (old == b[lane] ? c[lane] : old);
    if (!(now == old)) {
      std::memcpy(host[lane], &now, sizeof(now));
      ctx.stored = true;
    }
    if (!desc.has_result) return;
    row<uint64_t>(warp.rows, desc.rows[0])[lane] = old.low;
    row<uint64_t>(warp.rows, desc.rows[1])[lane] = old.high;
  });
}

NW_HD inline bool atomic_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ctx.polled |= desc.polls != 0;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  if (desc.vector == 2)
    atomic_pairs(ctx, warp, desc, mask, access.host);
  else if (desc.bytes == 2)
    atomic_lanes<uint16_t>(ctx, warp, desc, op, mask, access.host);
  else if (desc.bytes == 8)
    atomic_lanes<uint64_t>(ctx, warp, desc, op, mask, access.host);
  else
    atomic_lanes<uint32_t>(ctx, warp, desc, op, mask, access.host);
  return true;
}

}  // namespace nearwarp::exec
