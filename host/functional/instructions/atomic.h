// Atomic operations, lane after lane in ascending order.
#pragma once

#include "host/functional/instructions/memory_fast.h"
#include "host/functional/instructions/scalar.h"

namespace nearwarp::exec {

/// Halves and pairs of halves, out of line.
bool atomic_half(const MemDesc& desc, uint32_t old, uint32_t b, uint32_t* now);

/// Arrives at the mbarriers of the lanes of `mask`; false on a fault.
bool arrive_at_mbarriers(Context& ctx, Warp& warp, const Op& op, uint32_t mask);
/// The end of a try: the lanes `passed` of `mask` have found their phases over. kTries: all wait a
/// while; else they go on.
Status wait_for_phases(Context& ctx, Warp& warp, const Op& op, uint32_t mask, uint32_t passed);

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

/// `place(lane)` is where the word of a lane lies; it is called once for each, in ascending order.
template <class U, class Place>
NW_HD inline void atomic_lanes(Context& ctx, Warp& warp, const MemDesc& desc, const Op& op,
                               uint32_t mask, Place place) {
  using Lane = std::conditional_t<sizeof(U) == 8, uint64_t, uint32_t>;  // of a row
  const Lane* b = row<Lane>(warp.rows, desc.operand_b);
  const Lane* c = row<Lane>(warp.rows, desc.operand_c);
  Lane* d = row<Lane>(warp.rows, op.d);  // may be the row of an operand
  const bool has_result = desc.has_result != 0;
  const auto each = [&](auto operation) {
    bool changed = false;
    for_each_lane(mask, [&](uint32_t lane) {
      uint8_t* const p = place(lane);
      U old;
      std::memcpy(&old, p, sizeof(U));
      const U now = operation(old, static_cast<U>(b[lane]), static_cast<U>(c[lane]));
      if (now != old) {
        std::memcpy(p, &now, sizeof(U));
        changed = true;
      }
      if (has_result) d[lane] = old;
    });
    ctx.stored |= changed;
  };
  // The operations that kernels mostly use have loops of their own.
  if constexpr (sizeof(U) >= 4) {
    if (desc.is_float == 0 && desc.atomic == AtomOp::kAdd)
      return each([](U old, U operand, U) { return static_cast<U>(old + operand); });
    if (desc.is_float == 0 && desc.is_signed == 0 && desc.atomic == AtomOp::kMin)
      return each([](U old, U operand, U) { return old < operand ? old : operand; });
    if (desc.atomic == AtomOp::kCas)
      return each([](U old, U operand, U other) { return old == operand ? other : old; });
  }
  each([&](U old, U operand, U other) { return atomic_result<U>(desc, old, operand, other); });
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

/// Atomic operation on words of device memory by some lanes of a warp that all lie in the
/// allocation that the instruction last touched; false, with nothing done, if they do not.
template <class U>
NW_HD inline bool atomic_global(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(op.imm));
  uint32_t at[kLanes];
  if (!compact_offsets<U>(desc, row<uint64_t>(warp.rows, op.a), offset, mask, at)) return false;
  if (warp.trace != nullptr) trace_compact(warp, desc, mask, at);
  ctx.polled |= desc.polls != 0;
  uint8_t* const base = ctx.arena + (desc.lo - kDeviceBase);
  const uint32_t* next = at;
  atomic_lanes<U>(ctx, warp, desc, op, mask, [&](uint32_t) { return base + *next++; });
  return true;
}

NW_HD inline bool atomic_general(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  MemDesc& desc = ctx.memory[op.c];
  if (desc.atomic == AtomOp::kArrive) return arrive_at_mbarriers(ctx, warp, op, mask);
  // Records of full warps may be tiles, which write_record() finds.
  if (mask != 0 && mask != kFullMask && desc.space == MemSpace::kGlobal && desc.address64 != 0 &&
      desc.vector == 1 && desc.traced != 0) {
    if (desc.bytes == 4 && atomic_global<uint32_t>(ctx, warp, op, mask)) return true;
    if (desc.bytes == 8 && atomic_global<uint64_t>(ctx, warp, op, mask)) return true;
  }
  trace_guard(warp, desc, mask);
  if (mask == 0) return true;
  ctx.polled |= desc.polls != 0;
  ResolvedAccess access;
  if (!resolve(ctx, warp, desc, op, mask, access)) return false;
  const auto place = [&](uint32_t lane) { return access.host[lane]; };
  if (desc.vector == 2)
    atomic_pairs(ctx, warp, desc, mask, access.host);
  else if (desc.bytes == 2)
    atomic_lanes<uint16_t>(ctx, warp, desc, op, mask, place);
  else if (desc.bytes == 8)
    atomic_lanes<uint64_t>(ctx, warp, desc, op, mask, place);
  else
    atomic_lanes<uint32_t>(ctx, warp, desc, op, mask, place);
  return true;
}

}  // namespace nearwarp::exec
