// The out-of-line operations of the interpreter: rare arithmetic, conversions, carries, matches.
#include <bit>
#include <cmath>
#include <cstring>

#include "host/functional/instructions/codes.h"
#include "host/functional/instructions/float_ops.h"
#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/small_floats.h"

namespace nearwarp::exec {

namespace {

void write_predicate(Warp& warp, uint16_t index, uint32_t mask, uint32_t value) {
  warp.predicates[index] = (warp.predicates[index] & ~mask) | (value & mask);
}

/// add.cc, addc, sub.cc, subc, mad.cc, madc.
template <class U, class S>
void carry(Warp& warp, const Op& op, uint32_t mask) {
  using Wide = Uint128;
  const CarryFlags f = CarryFlags::unpack(op.imm);
  const uint32_t in = warp.predicates[kCarryPredicate];
  uint32_t out = 0;
  for_each_lane(mask, [&](uint32_t i) {
    U a = row<U>(warp.rows, op.a)[i];
    // A subtraction adds the complement, and its flag is the carry of that sum, as in hardware: set
    // where nothing was borrowed. Code that nvcc makes for 128-bit divisions reads it by addc.
    const U addend = row<U>(warp.rows, op.b)[i];
    const U b = f.subtract ? static_cast<U>(~addend) : addend;
    const Wide c = f.carry_in ? in >> i & 1 : (f.subtract ? 1 : 0);
    if (f.mad) {
      Wide product;
      const U factor = row<U>(warp.rows, op.c)[i];
      if (f.is_signed)
        product =
            static_cast<Wide>(static_cast<Int128>(static_cast<S>(a)) * static_cast<S>(factor));
      else
        product = static_cast<Wide>(a) * factor;
      a = static_cast<U>(f.high ? product >> (8 * sizeof(U)) : product);
    }
    const Wide r = static_cast<Wide>(a) + b + c;
    row<U>(warp.rows, op.d)[i] = static_cast<U>(r);
    out |= static_cast<uint32_t>(r >> (8 * sizeof(U)) & 1) << i;
  });
  if (f.carry_out) write_predicate(warp, kCarryPredicate, mask, out);
}

template <class U>
void match(Warp& warp, const Op& op, uint32_t mask) {
  const bool all = (op.imm & 1) != 0;
  const U* a = row<U>(warp.rows, op.a);
  const uint32_t* b = row<uint32_t>(warp.rows, op.b);
  uint32_t result[kLanes] = {};
  uint32_t agree = 0;
  for_each_lane(mask, [&](uint32_t i) {
    uint32_t same = 0;
    const uint32_t members = b[i] & mask;
    for_each_lane(members, [&](uint32_t j) { same |= static_cast<uint32_t>(a[i] == a[j]) << j; });
    result[i] = all ? (same == members ? members : 0) : same;
    agree |= static_cast<uint32_t>(same == members) << i;
  });
  for_each_lane(mask, [&](uint32_t i) { row<uint32_t>(warp.rows, op.d)[i] = result[i]; });
  if (const uint32_t p = static_cast<uint32_t>(op.imm) >> 8; p != 0)
    write_predicate(warp, static_cast<uint16_t>(p - 1), mask, agree);
}

/// The lesser or the greater of two values of .f32; `keeps_nan`: NaN if one of them is.
uint32_t least_or_most(AtomOp kind, bool keeps_nan, uint32_t a, uint32_t b) {
  const auto x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  if (keeps_nan && (x != x || y != y)) return 0x7fffffff;
  return std::bit_cast<uint32_t>(kind == AtomOp::kMin ? float_min(x, y) : float_max(x, y));
}

void redux(Warp& warp, const Op& op, uint32_t mask) {
  const AtomOp kind = static_cast<AtomOp>(op.imm & 0xff);
  const bool is_signed = (op.imm >> 8 & 1) != 0;
  const uint32_t* a = row<uint32_t>(warp.rows, op.a);
  const uint32_t* b = row<uint32_t>(warp.rows, op.b);
  uint32_t result[kLanes] = {};
  for_each_lane(mask, [&](uint32_t i) {
    bool first = true;
    uint32_t r = 0;
    for_each_lane(b[i] & mask, [&](uint32_t j) {
      const bool is_float = (op.imm >> 9 & 1) != 0;
      const uint32_t v = (op.imm >> 10 & 1) != 0 ? a[j] & 0x7fffffffu : a[j];
      if (is_float) {  // a NaN alone stays one
        r = least_or_most(kind, (op.imm >> 11 & 1) != 0, first ? v : r, v);
        first = false;
        return;
      }
      const int32_t sv = static_cast<int32_t>(v), sr = static_cast<int32_t>(r);
      if (first) {
        r = v;
      } else {
        switch (kind) {
          case AtomOp::kAdd:
            r += v;
            break;
          case AtomOp::kAnd:
            r &= v;
            break;
          case AtomOp::kOr:
            r |= v;
            break;
          case AtomOp::kXor:
            r ^= v;
            break;
          case AtomOp::kMin:
            r = (is_signed ? sv < sr : v < r) ? v : r;
            break;
          case AtomOp::kMax:
            r = (is_signed ? sv > sr : v > r) ? v : r;
            break;
          default:
            break;
        }
      }
      first = false;
    });
    result[i] = r;
  });
  for_each_lane(mask, [&](uint32_t i) { row<uint32_t>(warp.rows, op.d)[i] = result[i]; });
}

void elect(Warp& warp, const Op& op, uint32_t mask) {
  const uint32_t* b = row<uint32_t>(warp.rows, op.b);
  uint32_t result[kLanes] = {};
  uint32_t leaders = 0;
  for_each_lane(mask, [&](uint32_t i) {
    const uint32_t members = b[i] & mask;
    result[i] = members == 0 ? i : static_cast<uint32_t>(__builtin_ctz(members));
    leaders |= static_cast<uint32_t>(result[i] == i) << i;
  });
  if (op.d != kNoRow)
    for_each_lane(mask, [&](uint32_t i) { row<uint32_t>(warp.rows, op.d)[i] = result[i]; });
  if (op.imm != 0) write_predicate(warp, static_cast<uint16_t>(op.imm - 1), mask, leaders);
}

void is_space(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  const uint64_t* a = row<uint64_t>(warp.rows, op.a);
  uint32_t result = 0;
  for_each_lane(mask, [&](uint32_t i) {
    const uint64_t in_shared = a[i] - kSharedGenericBase;
    const bool shared = in_shared < kClusterBytes;
    const bool local = a[i] - kLocalGenericBase < kWindowBytes;
    bool is = false;
    switch (static_cast<MemSpace>(op.imm & 0xff)) {
      case MemSpace::kShared:  // of the block, or of the whole cluster
        is = shared && ((op.imm >> 8) != 0 || in_shared < kWindowBytes ||
                        (in_shared >> kWindowBits) - 1 == ctx.cluster_rank);
        break;
      case MemSpace::kLocal:
        is = local;
        break;
      default:
        is = !shared && !local;
    }
    result |= static_cast<uint32_t>(is) << i;
  });
  write_predicate(warp, op.d, mask, result);
}

}  // namespace

void execute_slow(Context& ctx, Warp& warp, const Op& op, uint32_t mask) {
  uint8_t* const rows = warp.rows;
  switch (op.code) {
#define NW_SLOW(name, D, A, B, C, expression)                            \
  case k##name:                                                          \
    ternary_masked<D, A, B, C>(rows, op, mask, [&](A a, B b, C c) -> D { \
      (void)a, (void)b, (void)c;                                         \
      return expression;                                                 \
    });                                                                  \
    break;
    NW_EXEC_SLOW(NW_SLOW)
#undef NW_SLOW
    case kFloatRounded:
      float_rounded(rows, op, mask);
      break;
    case kConvert:
      convert(rows, op, mask);
      break;
    case kCarry:
      if (CarryFlags::unpack(op.imm).wide)
        carry<uint64_t, int64_t>(warp, op, mask);
      else
        carry<uint32_t, int32_t>(warp, op, mask);
      break;
    case kMatch:
      if (op.imm & 2)
        match<uint64_t>(warp, op, mask);
      else
        match<uint32_t>(warp, op, mask);
      break;
    case kRedux:
      redux(warp, op, mask);
      break;
    case kElect:
      elect(warp, op, mask);
      break;
    case kClock: {
      // All instructions of the basic block have been counted: less those to come.
      const uint64_t now = ctx.clock_stands ? ctx.clock_at
                                            : ctx.clock_ahead + ctx.warp_instructions -
                                                  static_cast<uint32_t>(op.imm >> 2);
      const int part = op.imm & 3;
      for_each_lane(mask, [&](uint32_t i) {
        if (part == 2)
          row<uint64_t>(rows, op.d)[i] = now;
        else
          row<uint32_t>(rows, op.d)[i] = static_cast<uint32_t>(part == 1 ? now >> 32 : now);
      });
      ctx.polled = ctx.read_clock = true;
      break;
    }
    case kHalf:
      half(rows, op, mask);
      break;
    case kHalfCompare:
      half_compare(warp, op, mask);
      break;
    case kConvertSmall:
      convert_small(rows, op, mask);
      break;
    case kConvertPair:
      convert_pair(rows, op, mask);
      break;
    case kVideo:
    case kSzext:
    case kFns: {
      const uint32_t *a = row<uint32_t>(rows, op.a), *b = row<uint32_t>(rows, op.b),
                     *c = row<uint32_t>(rows, op.c);
      for_each_lane(mask, [&](uint32_t i) {
        row<uint32_t>(rows, op.d)[i] =
            op.code == kVideo   ? video(static_cast<uint32_t>(op.imm), a[i], b[i], c[i])
            : op.code == kSzext ? szext(a[i], b[i], op.imm)
                                : find_nth_set(a[i], b[i], static_cast<int32_t>(c[i]));
      });
      break;
    }
    case kIsSpace:
      is_space(ctx, warp, op, mask);
      break;
    default:
      break;
  }
}

}  // namespace nearwarp::exec
