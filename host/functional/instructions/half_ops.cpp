// Arithmetic on f16 and bf16: exact in double precision where possible, else rounded to odd first,
// so that the rounding to 11 or 8 bits is the only one.
#include "host/functional/instructions/half_ops.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "host/functional/instructions/approx.h"
#include "host/functional/instructions/convert_rows.h"
#include "host/functional/instructions/float_ops.h"
#include "host/functional/instructions/half_rows.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/scalar.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {

namespace {

constexpr uint32_t kHalfNan = 0x7fff;

bool is_nan(uint32_t h, bool bf16) { return (h & 0x7fff) > (bf16 ? 0x7f80u : 0x7c00u); }
/// Subnormal to zero.
uint32_t flush_half(uint32_t h, bool bf16) {
  return (h & (bf16 ? 0x7f80u : 0x7c00u)) == 0 ? h & 0x8000u : h;
}

uint32_t extreme(const HalfFlags& f, uint32_t a, uint32_t b) {
  const uint32_t sign = f.xorsign ? (a ^ b) & 0x8000u : 0;
  if (f.xorsign) a &= 0x7fff, b &= 0x7fff;
  const bool a_nan = is_nan(a, f.bf16), b_nan = is_nan(b, f.bf16);
  uint32_t r;
  if (a_nan || b_nan) {
    if (f.nan || (a_nan && b_nan)) return kHalfNan;
    r = a_nan ? b : a;
  } else {
    const double x = half_value(a, f.bf16), y = half_value(b, f.bf16);
    const double least = float_min(x, y), most = float_max(x, y);
    const double chosen = f.op == HalfOp::kMin ? least : most;
    r = half_bits(chosen, f.bf16, Round::kNearest);
  }
  return r | sign;
}

template <class F>
void for_each_half(uint8_t* rows, const Op& op, uint32_t mask, bool pair, F f) {
  for_each_lane(mask, [&](uint32_t i) {
    const uint32_t a = row<uint32_t>(rows, op.a)[i], b = row<uint32_t>(rows, op.b)[i],
                   c = row<uint32_t>(rows, op.c)[i];
    uint32_t r = f(a & 0xffff, b & 0xffff, c & 0xffff);
    if (pair) r |= f(a >> 16, b >> 16, c >> 16) << 16;
    row<uint32_t>(rows, op.d)[i] = r;
  });
}

bool compare_halves(uint8_t compare, double a, double b) {
  using ptx::Compare;
  const bool unordered = a != a || b != b;
  switch (static_cast<Compare>(compare)) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return !unordered && a != b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kGe:
      return a >= b;
    case Compare::kEqu:
      return unordered || a == b;
    case Compare::kNeu:
      return unordered || a != b;
    case Compare::kLtu:
      return unordered || a < b;
    case Compare::kLeu:
      return unordered || a <= b;
    case Compare::kGtu:
      return unordered || a > b;
    case Compare::kGeu:
      return unordered || a >= b;
    case Compare::kNum:
      return !unordered;
    default:
      return unordered;
  }
}

}  // namespace

double half_value(uint32_t bits, bool bf16) {
  if (bf16) return static_cast<double>(bits_as<float>(bits << 16));
#if defined(__F16C__)
  return static_cast<double>(_cvtsh_ss(static_cast<uint16_t>(bits)));
#else
  const ConvertFlags f{Number::kF16, Number::kF64, Round::kNearest, false, false, false, 8};
  return bits_as<double>(convert_value(f, bits & 0xffff));
#endif
}
uint32_t half_bits(double value, bool bf16, Round round) {
  if (round == Round::kNearest && bf16) {
    const float odd = odd_float(value);
    uint16_t h;
    bf16_of_floats(&odd, 1, &h);
    return h;
  }
#if defined(__F16C__)
  if (round == Round::kNearest)
    return value != value ? kHalfNan : _cvtss_sh(odd_float(value), _MM_FROUND_TO_NEAREST_INT);
#endif
  const ConvertFlags f{
      Number::kF64, bf16 ? Number::kBF16 : Number::kF16, round, false, false, false, 2};
  return static_cast<uint32_t>(convert_value(f, bits_as<uint64_t>(value)));
}

uint32_t half_arithmetic(const HalfFlags& f, uint32_t a, uint32_t b, uint32_t c) {
  if (f.ftz) {
    a = flush_half(a, f.bf16);
    b = flush_half(b, f.bf16);
    c = flush_half(c, f.bf16);
  }
  if (f.zero_outside && (a == kOutsideHalf || b == kOutsideHalf)) return 0;
  uint32_t r = 0;
  switch (f.op) {
    case HalfOp::kNeg:
      return is_nan(a, f.bf16) ? kHalfNan : a ^ 0x8000u;
    case HalfOp::kAbs:
      return is_nan(a, f.bf16) ? kHalfNan : a & 0x7fffu;
    case HalfOp::kMin:
    case HalfOp::kMax:
      r = extreme(f, a, b);
      break;
    default: {
      const double x = half_value(a, f.bf16), y = half_value(b, f.bf16), z = half_value(c, f.bf16);
      double v = 0;
      switch (f.op) {
        case HalfOp::kAdd:
          v = odd_sum(x, y);
          break;
        case HalfOp::kSub:
          v = odd_sum(x, -y);
          break;
        case HalfOp::kMul:
          v = x * y;
          break;
        case HalfOp::kEx2:
          v = std::exp2(x);
          break;
        case HalfOp::kTanh:
          v = std::tanh(x);
          break;
        default:
          v = odd_sum(x * y, z);
      }
      r = half_bits(v, f.bf16, Round::kNearest);
    }
  }
  if (f.ftz) r = flush_half(r, f.bf16);
  if (f.saturate)
    r = half_bits(is_nan(r, f.bf16) ? 0.0 : saturate(half_value(r, f.bf16)), f.bf16,
                  Round::kNearest);
  if (f.relu && !is_nan(r, f.bf16) && (r & 0x8000u) != 0) r = 0;
  return r;
}

void half(uint8_t* rows, const Op& op, uint32_t mask) {
  if (half_rows(rows, op, mask)) return;
  const HalfFlags f = HalfFlags::unpack(op.imm);
  for_each_half(rows, op, mask, f.pair,
                [&](uint32_t a, uint32_t b, uint32_t c) { return half_arithmetic(f, a, b, c); });
}

/// setp of halves: the first predicate is of the lower (or only) ones; the second of the upper
/// ones, or the opposite of the first.
void half_compare(Warp& warp, const Op& op, uint32_t mask) {
  const HalfFlags f = HalfFlags::unpack(op.imm);
  uint32_t low = 0, high = 0;
  for_each_lane(mask, [&](uint32_t i) {
    const uint32_t a = row<uint32_t>(warp.rows, op.a)[i], b = row<uint32_t>(warp.rows, op.b)[i];
    const auto holds = [&](uint32_t x, uint32_t y) {
      if (f.ftz) x = flush_half(x, f.bf16), y = flush_half(y, f.bf16);
      return compare_halves(f.compare, half_value(x, f.bf16), half_value(y, f.bf16));
    };
    low |= static_cast<uint32_t>(holds(a & 0xffff, b & 0xffff)) << i;
    if (f.pair) high |= static_cast<uint32_t>(holds(a >> 16, b >> 16)) << i;
  });
  if (!f.pair) high = ~low;
  uint32_t* p = warp.predicates;
  p[op.d] = (p[op.d] & ~mask) | (low & mask);
  if (op.c != 0) p[op.c - 1] = (p[op.c - 1] & ~mask) | (high & mask);
}

void convert_pair(uint8_t* rows, const Op& op, uint32_t mask) {
  const ConvertFlags f = ConvertFlags::unpack(op.imm);
  const bool relu = (static_cast<uint32_t>(op.imm) >> 24 & 1) != 0;
  const auto narrow = [&](uint16_t index, uint32_t(&to)[kLanes]) {
    const uint32_t* const from = row<uint32_t>(rows, index);
    if (!converted(from, f, to))
      for (uint32_t i = 0; i < kLanes; ++i)
        to[i] = static_cast<uint32_t>(convert_value(f, from[i])) & 0xffff;
    if (!relu) return;
    for (uint32_t i = 0; i < kLanes; ++i)
      to[i] = (to[i] & 0x8000u) != 0 && !is_nan(to[i], f.to == Number::kBF16) ? 0u : to[i];
  };
  uint32_t upper[kLanes], lower[kLanes];
  narrow(op.a, upper);
  narrow(op.b, lower);
  uint32_t* const d = row<uint32_t>(rows, op.d);
  for (uint32_t i = 0; i < kLanes; ++i)
    d[i] = lane_in<uint32_t>(mask, i) ? upper[i] << 16 | lower[i] : d[i];
}

bool atomic_half(const MemDesc& desc, uint32_t old, uint32_t b, uint32_t* now) {
  HalfFlags f{};
  f.bf16 = (desc.is_float & 4) != 0;
  f.op = desc.atomic == AtomOp::kMin   ? HalfOp::kMin
         : desc.atomic == AtomOp::kMax ? HalfOp::kMax
                                       : HalfOp::kAdd;
  *now = half_arithmetic(f, old & 0xffff, b & 0xffff, 0);
  if (desc.bytes == 4) *now |= half_arithmetic(f, old >> 16, b >> 16, 0) << 16;
  return true;
}

}  // namespace nearwarp::exec
