// Conversions of floating point of 8, 6 and 4 bits and of tf32.
#include "host/functional/instructions/small_floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/lanes.h"

namespace nearwarp::exec {

namespace {

constexpr uint32_t kSmallNan = 0x7f, kSingleNan = 0x7fffffff;

/// Bits of the fraction, exponent's offset, largest finite number, bits without the sign.
struct Shape {
  int fraction, bias;
  uint32_t largest, bits;
};
Shape shape_of(ptx::SmallFloat format) {
  switch (format) {
    case ptx::SmallFloat::kE5M2:
      return {2, 15, 0x7b, 7};
    case ptx::SmallFloat::kE2M3:
      return {3, 1, 0x1f, 5};
    case ptx::SmallFloat::kE3M2:
      return {2, 3, 0x1f, 5};
    case ptx::SmallFloat::kE2M1:
      return {1, 1, 0x7, 3};
    default:
      return {3, 7, 0x7e, 7};
  }
}

/// A power of two; there is no sign. `up`: the next one, rather than the one before.
uint32_t scale_bits(double value, bool up, bool saturate) {
  constexpr uint32_t kNan = 0xff, kLargest = 0xfe;
  constexpr int kBias = 127;
  const double v = std::fabs(value);
  if (v != v) return kNan;
  if (v > std::ldexp(1.0, kBias)) return saturate ? kLargest : kNan;
  if (v == 0) return 0;
  const int exponent = std::ilogb(v);
  const int code = exponent + kBias + (up && v > std::ldexp(1.0, exponent) ? 1 : 0);
  return static_cast<uint32_t>(std::max(code, 0));
}

}  // namespace

double small_value(ptx::SmallFloat format, uint32_t bits) {
  if (format == ptx::SmallFloat::kUE8M0)
    return (bits & 0xff) == 0xff ? std::numeric_limits<double>::quiet_NaN()
                                 : std::ldexp(1.0, static_cast<int>(bits & 0xff) - 127);
  const Shape s = shape_of(format);
  const uint32_t magnitude = bits & ((1u << s.bits) - 1);
  const int exponent = static_cast<int>(magnitude >> s.fraction);
  const int fraction = static_cast<int>(magnitude) & ((1 << s.fraction) - 1);
  double value;
  if (magnitude > s.largest)
    value = format == ptx::SmallFloat::kE5M2 && fraction == 0
                ? std::numeric_limits<double>::infinity()
                : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(fraction, 1 - s.bias - s.fraction);
  else
    value = std::ldexp(fraction + (1 << s.fraction), exponent - s.bias - s.fraction);
  return (bits >> s.bits & 1) != 0 ? -value : value;
}

uint32_t small_bits(ptx::SmallFloat format, double value) {
  const Shape s = shape_of(format);
  if (value != value) return s.bits == 7 ? kSmallNan : s.largest;  // fewer bits have no NaN
  const uint32_t sign = std::signbit(value) ? 1u << s.bits : 0;
  const double v = std::fabs(value);
  if (v >= small_value(format, s.largest)) return sign | s.largest;
  // In units of the last place; codes of neighbours are neighbours, so a carry is right.
  const int exponent = v == 0 ? 1 - s.bias : std::max(std::ilogb(v), 1 - s.bias);
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(v, s.fraction - exponent)));
  const auto below = static_cast<uint32_t>(exponent + s.bias - 1) << s.fraction;
  return sign | std::min(below + units, s.largest);
}

uint32_t tf32_bits(float value, ptx::Rounding rounding, bool saturate) {
  constexpr uint32_t kDropped = 0x1fff, kInfinity = 0x7f800000, kLargest = 0x7f7fe000;
  if (value != value) return kSingleNan;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits & 0x80000000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (rounding == ptx::Rounding::kRna) magnitude += 0x1000;
  if (rounding == ptx::Rounding::kRn) magnitude += 0xfff + (magnitude >> 13 & 1);
  magnitude = std::min(magnitude & ~kDropped, kInfinity);
  if (saturate) magnitude = std::min(magnitude, kLargest);
  return sign | magnitude;
}

void convert_small(uint8_t* rows, const Op& op, uint32_t mask) {
  const SmallFlags f = SmallFlags::unpack(op.imm);
  const ptx::SmallFloat format = f.detail.format;
  const bool scale = format == ptx::SmallFloat::kUE8M0;
  // Two of 4 bits share a byte.
  const uint32_t distance = format == ptx::SmallFloat::kE2M1 ? 4 : 8;
  const auto narrow = [&](double value) {
    if (scale) return scale_bits(value, f.rounding == ptx::Rounding::kRp, f.saturate);
    const uint32_t bits = small_bits(format, value);
    return f.relu && std::signbit(value) && value == value ? 0u : bits;
  };
  const auto widen = [&](uint32_t bits) {
    const uint32_t half = half_bits(small_value(format, bits & ((1u << distance) - 1)),
                                    f.detail.bf16, Round::kNearest);
    const bool negative = (half & 0x8000) != 0 && (half & 0x7fff) <= 0x7c00;
    return f.relu && negative ? 0u : half;
  };
  for_each_lane(mask, [&](uint32_t i) {
    const uint32_t a = row<uint32_t>(rows, op.a)[i], b = row<uint32_t>(rows, op.b)[i];
    uint32_t r;
    if (format == ptx::SmallFloat::kTF32) {
      r = tf32_bits(std::bit_cast<float>(a), f.rounding, f.saturate);
      if (f.relu && (r >> 31) != 0) r = 0;
    } else if (f.detail.widens) {
      r = widen(a) | widen(a >> distance) << 16;
    } else if (f.from_halves) {
      r = narrow(half_value(a & 0xffff, f.detail.bf16)) | narrow(half_value(a >> 16, f.detail.bf16))
                                                              << distance;
    } else {  // a: the upper one
      const auto upper = static_cast<double>(std::bit_cast<float>(a));
      const auto lower = static_cast<double>(std::bit_cast<float>(b));
      r = narrow(lower) | narrow(upper) << distance;
    }
    row<uint32_t>(rows, op.d)[i] = r;
  });
}

}  // namespace nearwarp::exec
