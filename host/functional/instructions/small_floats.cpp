// Conversions of floating point of 8, 6 and 4 bits and of tf32.
#include "host/functional/instructions/small_floats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "host/functional/instructions/half_rows.h"
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
    case ptx::SmallFloat::kHalf:
      return {10, 15, 0x7bff, 15};
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
  if (v == 0) return 0;
  const int exponent = std::isinf(v) ? kBias + 1 : std::ilogb(v);
  const int code = exponent + kBias + (up && v > std::ldexp(1.0, exponent) ? 1 : 0);
  if (code > static_cast<int>(kLargest)) return saturate ? kLargest : kNan;
  return static_cast<uint32_t>(std::max(code, 0));
}

/// `count` random bits are added below the last place, and what then lies below it is dropped.
/// `saturate`: the largest finite number stands for what is larger.
uint32_t random_bits_code(const Shape& s, float value, uint32_t random, int count, bool saturate) {
  const bool halves = s.bits == 15;
  if (value != value) return halves ? 0x7fff : s.bits == 7 ? kSmallNan : s.largest;
  const uint32_t sign = std::signbit(value) ? 1u << s.bits : 0;
  const uint32_t most = saturate ? s.largest : s.largest + 1;  // which is infinity
  const double v = std::fabs(static_cast<double>(value));
  if (v > 0x1p130) return sign | most;
  const int exponent = v == 0 ? 1 - s.bias : std::max(std::ilogb(v), 1 - s.bias);
  const double units = std::ldexp(v, s.fraction - exponent) + std::ldexp(random, -count);
  const auto below = static_cast<int64_t>(exponent + s.bias - 1) << s.fraction;
  const auto code = below + static_cast<int64_t>(units);
  return sign | static_cast<uint32_t>(std::min<int64_t>(code, most));
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

namespace {

/// small_bits() of all lanes, without branches that depend on lanes.
void small_rows(ptx::SmallFloat format, bool relu, const float* from, uint32_t* to) {
  const Shape s = shape_of(format);
  const auto dropped = static_cast<uint32_t>(23 - s.fraction);
  const uint32_t half = (1u << (dropped - 1)) - 1;
  const uint32_t offset = static_cast<uint32_t>(127 - s.bias) << s.fraction;
  const auto least_normal = static_cast<float>(std::ldexp(1.0, 1 - s.bias));
  const auto units = static_cast<float>(std::ldexp(1.0, s.bias - 1 + s.fraction));
  const auto largest = static_cast<float>(small_value(format, s.largest));
  const uint32_t none = s.bits == 7 ? kSmallNan : s.largest;
  for (uint32_t i = 0; i < kLanes; ++i) {
    const auto bits = std::bit_cast<uint32_t>(from[i]);
    const uint32_t magnitude = bits & 0x7fffffffu, sign = bits >> 31 << s.bits;
    const auto v = std::bit_cast<float>(magnitude);
    // Half of the last place, less one where the value is even, may carry into the exponent.
    const uint32_t normal = ((magnitude + half + (magnitude >> dropped & 1)) >> dropped) - offset;
    // The last bits of a sum with 1.5 2^23 are those of an integer.
    const uint32_t subnormal = std::bit_cast<uint32_t>(v * units + 0x1.8p23f) & 0xff;
    const uint32_t code = v < least_normal ? subnormal : normal;
    const uint32_t limited = v >= largest || code > s.largest ? s.largest : code;
    const uint32_t finite = relu && sign != 0 ? 0 : limited | sign;
    to[i] = v != v ? none : finite;
  }
}

/// Halves of all numbers of up to 8 bits.
const uint16_t* widened(ptx::SmallFloat format, bool bf16) {
  thread_local std::array<std::vector<uint16_t>, 32> tables;
  std::vector<uint16_t>& table = tables[static_cast<size_t>(format) * 2 + (bf16 ? 1 : 0)];
  if (table.empty())
    for (uint32_t bits = 0; bits < 256; ++bits)
      table.push_back(
          static_cast<uint16_t>(half_bits(small_value(format, bits), bf16, Round::kNearest)));
  return table.data();
}

}  // namespace

/// Two of f32 by random bits. Which bits are whose: PTX ISA 9.0, cvt; of 8 and 6 bits, both numbers
/// have the same 16, and of 4 bits, 8 of either half (the reading taken).
void random_rows(const SmallFlags& f, const float* upper, const float* lower,
                 const uint32_t* random, uint32_t* to) {
  const ptx::SmallFloat format = f.detail.format;
  const bool halves = format == ptx::SmallFloat::kHalf, four = format == ptx::SmallFloat::kE2M1;
  const Shape s = halves && f.detail.bf16 ? Shape{7, 127, 0x7f7f, 15} : shape_of(format);
  const int count = halves && !f.detail.bf16 ? 13 : four ? 8 : 16;
  const int distance = halves ? 16 : four ? 4 : 8;
  const uint32_t keep = (1u << count) - 1;
  for (uint32_t i = 0; i < kLanes; ++i) {
    const auto code = [&](float v, uint32_t bits) {
      const uint32_t c = random_bits_code(s, v, bits & keep, count, f.saturate);
      return f.relu && c >> s.bits != 0 ? 0 : c;
    };
    const uint32_t high = halves || four ? random[i] >> 16 : random[i];
    to[i] = code(upper[i], high) << distance | code(lower[i], random[i]);
  }
}

void convert_small(uint8_t* rows, const Op& op, uint32_t mask) {
  const SmallFlags f = SmallFlags::unpack(op.imm);
  const ptx::SmallFloat format = f.detail.format;
  // Two of 4 bits share a byte.
  const uint32_t distance = format == ptx::SmallFloat::kE2M1 ? 4 : 8;
  const uint32_t* const a = row<uint32_t>(rows, op.a);
  const uint32_t* const b = row<uint32_t>(rows, op.b);
  uint32_t results[kLanes];
  const auto narrow = [&](const float* values, uint32_t* to) {
    if (format != ptx::SmallFloat::kUE8M0) return small_rows(format, f.relu, values, to);
    for (uint32_t i = 0; i < kLanes; ++i)
      to[i] =
          scale_bits(static_cast<double>(values[i]), f.rounding == ptx::Rounding::kRp, f.saturate);
  };
  if (format == ptx::SmallFloat::kTF32) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      const uint32_t r = tf32_bits(std::bit_cast<float>(a[i]), f.rounding, f.saturate);
      results[i] = f.relu && r >> 31 != 0 ? 0 : r;
    }
  } else if (f.detail.widens) {
    const uint16_t* const table = widened(format, f.detail.bf16);
    const auto widen = [&](uint32_t bits) -> uint32_t {
      const uint16_t half = table[bits & ((1u << distance) - 1)];
      const bool negative = (half & 0x8000) != 0 && (half & 0x7fff) <= 0x7c00;
      return f.relu && negative ? 0u : half;
    };
    for (uint32_t i = 0; i < kLanes; ++i) results[i] = widen(a[i]) | widen(a[i] >> distance) << 16;
  } else {
    float upper[kLanes], lower[kLanes];
    if (f.from_halves) {
      uint16_t halves[2 * kLanes];
      for (uint32_t i = 0; i < kLanes; ++i) halves[i] = static_cast<uint16_t>(a[i]);
      for (uint32_t i = 0; i < kLanes; ++i) halves[kLanes + i] = static_cast<uint16_t>(a[i] >> 16);
      const auto read = f.detail.bf16 ? floats_of_bf16 : floats_of_f16;
      read(halves, kLanes, lower);
      read(halves + kLanes, kLanes, upper);
    } else {  // a: the upper one
      for (uint32_t i = 0; i < kLanes; ++i) upper[i] = std::bit_cast<float>(a[i]);
      for (uint32_t i = 0; i < kLanes; ++i) lower[i] = std::bit_cast<float>(b[i]);
    }
    if (f.rounding == ptx::Rounding::kRs) {
      random_rows(f, upper, lower, row<uint32_t>(rows, op.c), results);
    } else {
      uint32_t high[kLanes];
      narrow(lower, results);
      narrow(upper, high);
      for (uint32_t i = 0; i < kLanes; ++i) results[i] |= high[i] << distance;
    }
  }
  uint32_t* const d = row<uint32_t>(rows, op.d);
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = lane_in<uint32_t>(mask, i) ? results[i] : d[i];
}

}  // namespace nearwarp::exec
