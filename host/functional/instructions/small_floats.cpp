// Conversions of 8-bit floating point and tf32.
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

/// Bits of the fraction, exponent's offset, largest finite number.
struct Shape {
  int fraction, bias;
  uint32_t largest;
};
Shape shape_of(ptx::SmallFloat format) {
  return format == ptx::SmallFloat::kE4M3 ? Shape{3, 7, 0x7e} : Shape{2, 15, 0x7b};
}

}  // namespace

double small_value(ptx::SmallFloat format, uint32_t bits) {
  const Shape s = shape_of(format);
  const uint32_t magnitude = bits & 0x7f;
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
  return (bits & 0x80) != 0 ? -value : value;
}

uint32_t small_bits(ptx::SmallFloat format, double value) {
  if (value != value) return kSmallNan;
  const Shape s = shape_of(format);
  const uint32_t sign = std::signbit(value) ? 0x80 : 0;
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
  const auto narrow = [&](double value) {
    const uint32_t bits = small_bits(format, value);
    return f.relu && (bits & 0x80) != 0 ? 0u : bits;
  };
  const auto widen = [&](uint32_t bits) {
    const uint32_t half = half_bits(small_value(format, bits & 0xff), false, Round::kNearest);
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
      r = widen(a) | widen(a >> 8) << 16;
    } else if (f.from_halves) {
      r = narrow(half_value(a & 0xffff, false)) | narrow(half_value(a >> 16, false)) << 8;
    } else {  // a: the upper one
      const auto upper = static_cast<double>(std::bit_cast<float>(a));
      const auto lower = static_cast<double>(std::bit_cast<float>(b));
      r = narrow(lower) | narrow(upper) << 8;
    }
    row<uint32_t>(rows, op.d)[i] = r;
  });
}

}  // namespace nearwarp::exec
