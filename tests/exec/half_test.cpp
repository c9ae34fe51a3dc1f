// Are conversions of 16-bit floats right? f16 is compared with the compiler's own, bf16 with the
// truncated f32.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "host/functional/instructions/float_ops.h"

namespace nearwarp::exec {
namespace {

uint64_t convert_bits(Number from, Number to, uint64_t bits, Round round = Round::kNearest,
                      bool saturate = false) {
  return convert_value({from, to, round, false, false, saturate, 4}, bits);
}
float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

TEST(Half, EveryValueToFloatAndBack) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = as_float(convert_bits(Number::kF16, Number::kF32, h));
    const float b = as_float(convert_bits(Number::kBF16, Number::kF32, h));
    const float want_b = std::bit_cast<float>(h << 16);
    if (std::isnan(want_b)) {
      EXPECT_TRUE(std::isnan(b));
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(b), h << 16);
    }
    const int exponent = static_cast<int>(h >> 10 & 31);
    if (exponent == 31) {
      EXPECT_EQ(std::isnan(f), (h & 0x3ff) != 0);
      EXPECT_EQ(std::isinf(f), (h & 0x3ff) == 0);
      continue;
    }
    const float magnitude =
        exponent == 0 ? std::ldexp(static_cast<float>(h & 0x3ff), -24)
                      : std::ldexp(static_cast<float>((h & 0x3ff) | 0x400), exponent - 25);
    ASSERT_EQ(f, h & 0x8000 ? -magnitude : magnitude);
    ASSERT_EQ(convert_bits(Number::kF32, Number::kF16, std::bit_cast<uint32_t>(f)), h);
  }
}

TEST(Half, RoundingPicksTheRightNeighbour) {
  std::mt19937 random(9);
  for (int i = 0; i < 200000; ++i) {
    const float v = std::ldexp(static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f,
                               static_cast<int>(random() % 45) - 26);
    const uint64_t bits = std::bit_cast<uint32_t>(v);
    const auto to = [&](Round r) {
      return as_float(convert_bits(Number::kF16, Number::kF32,
                                   convert_bits(Number::kF32, Number::kF16, bits, r)));
    };
    const float down = to(Round::kDown), up = to(Round::kUp), zero = to(Round::kZero),
                near = to(Round::kNearest);
    ASSERT_LE(down, v);
    ASSERT_GE(up, v);
    ASSERT_EQ(zero, v < 0 ? up : down);
    ASSERT_TRUE(near == down || near == up);
    if (std::isfinite(down) && std::isfinite(up)) {
      const double below = double{v} - double{down}, above = double{up} - double{v};
      ASSERT_TRUE(!(below < above) || near == down);
      ASSERT_TRUE(!(above < below) || near == up);
      // Neighbours are one unit apart.
      const uint64_t d = convert_bits(Number::kF32, Number::kF16, std::bit_cast<uint32_t>(down));
      const uint64_t u = convert_bits(Number::kF32, Number::kF16, std::bit_cast<uint32_t>(up));
      ASSERT_TRUE(down == up || down == 0 || up == 0 || std::max(d, u) - std::min(d, u) == 1);
    }
  }
  EXPECT_EQ(convert_bits(Number::kF32, Number::kF16, std::bit_cast<uint32_t>(65519.0f)), 0x7bffu);
  EXPECT_EQ(convert_bits(Number::kF32, Number::kF16, std::bit_cast<uint32_t>(65520.0f)), 0x7c00u);
  EXPECT_EQ(convert_bits(Number::kF32, Number::kF16, std::bit_cast<uint32_t>(2.5f), Round::kNearest,
                         true),
            0x3c00u);
}

}  // namespace
}  // namespace nearwarp::exec
