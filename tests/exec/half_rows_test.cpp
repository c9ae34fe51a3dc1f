// Are operations on halves, on 8-bit numbers and on tf32 of all lanes at once those of one value?
#include "host/functional/instructions/half_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "host/functional/instructions/approx.h"
#include "host/functional/instructions/float_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/small_floats.h"
#include "tests/support/rounds.h"

namespace nearwarp::exec {
namespace {

/// Four rows: operands, and a destination.
struct Registers {
  alignas(64) uint32_t words[4][kLanes] = {};
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(words); }
  static Op op(int32_t imm) {
    Op op{};
    op.a = 0, op.b = 1, op.c = 2, op.d = 3;
    op.imm = imm;
    return op;
  }
};

/// Draws pairs of halves that matter in sums: of all exponents, and near each other.
uint32_t halves(std::mt19937& random) {
  const auto any = static_cast<uint32_t>(random());
  switch (random() % 5) {
    case 0:
      return any & 0x83ff83ff;  // small ones
    case 4:
      return (any & 0xffff0000) | kOutsideHalf;
    case 1:
      return (any & 0x80038003) | 0x3c003c00;
    case 2:
      return (any & 0x80ff80ff) | 0x7c007c00;  // infinities and what is no number
    default:
      return any;
  }
}

TEST(HalfRows, AreOperationsOfEachHalf) {
  constexpr uint32_t kRounds = testing::rounds(2000);
  std::mt19937 random(1);
  for (const HalfOp kind : {HalfOp::kAdd, HalfOp::kSub, HalfOp::kMul, HalfOp::kFma, HalfOp::kNeg,
                            HalfOp::kAbs, HalfOp::kMin, HalfOp::kMax}) {
    for (uint32_t options = 0; options < 256; ++options) {
      HalfFlags f{};
      f.op = kind;
      f.bf16 = options & 1, f.pair = options & 2, f.ftz = options & 4, f.saturate = options & 8;
      f.relu = options & 16, f.nan = options & 32, f.xorsign = options & 64;
      f.zero_outside = options & 128;
      if (f.zero_outside && (kind != HalfOp::kFma || f.ftz)) continue;
      const bool extreme = kind == HalfOp::kMin || kind == HalfOp::kMax;
      if (!extreme && (f.nan || f.xorsign)) continue;
      for (uint32_t k = 0; k < kRounds / (extreme ? 8 : 1); ++k) {
        Registers rows;
        for (auto& words : rows.words)
          for (uint32_t& word : words) word = halves(random);
        const Registers before = rows;
        const uint32_t mask = k % 3 == 0 ? ~0u : static_cast<uint32_t>(random());
        ASSERT_TRUE(half_rows(rows.bytes(), Registers::op(f.pack()), mask));
        for (uint32_t i = 0; i < kLanes; ++i) {
          const auto of = [&](uint32_t shift) {
            return half_arithmetic(f, before.words[0][i] >> shift & 0xffff,
                                   before.words[1][i] >> shift & 0xffff,
                                   before.words[2][i] >> shift & 0xffff);
          };
          uint32_t want = of(0) | (f.pair ? of(16) << 16 : 0);
          if ((mask >> i & 1) == 0) want = before.words[3][i];
          ASSERT_EQ(rows.words[3][i], want)
              << "operation " << int(kind) << " options " << options << std::hex << " of "
              << before.words[0][i] << " " << before.words[1][i] << " " << before.words[2][i];
        }
      }
    }
  }
}

TEST(HalfRows, ValuesAndBitsAreConversions) {
  std::mt19937_64 random(2);
  for (const bool bf16 : {false, true}) {
    const Number format = bf16 ? Number::kBF16 : Number::kF16;
    for (uint32_t h = 0; h < 0x10000; ++h) {
      const double v = half_value(h, bf16);
      const auto want = std::bit_cast<double>(
          convert_value({format, Number::kF64, Round::kNearest, false, false, false, 8}, h));
      ASSERT_TRUE(v == want || (v != v && want != want)) << h;
    }
    for (int i = 0; i < 1 << 20; ++i) {
      uint64_t bits = random();
      if (i % 2 == 0) bits = (bits & 0x8000ffffffffffff) | (1023 - 30 + random() % 60) << 52;
      if (i % 4 == 0) bits &= ~uint64_t{0} << random() % 52;  // few digits: ties
      ASSERT_EQ(
          half_bits(std::bit_cast<double>(bits), bf16, Round::kNearest),
          convert_value({Number::kF64, format, Round::kNearest, false, false, false, 2}, bits))
          << std::hex << bits;
    }
  }
}

TEST(SmallFloats, OfAllLanesAreThoseOfEach) {
  using ptx::SmallFloat;
  std::mt19937 random(4);
  for (const SmallFloat format : {SmallFloat::kE4M3, SmallFloat::kE5M2, SmallFloat::kE2M3,
                                  SmallFloat::kE3M2, SmallFloat::kE2M1}) {
    const uint32_t distance = format == SmallFloat::kE2M1 ? 4 : 8;
    for (uint32_t options = 0; options < 8; ++options) {
      SmallFlags f{};
      f.detail.format = format;
      f.relu = options & 1, f.from_halves = options & 2, f.detail.bf16 = options & 4;
      for (uint32_t k = 0; k < (1 << 20) / kLanes / 8; ++k) {
        Registers rows;
        for (auto& words : rows.words)
          for (uint32_t& word : words) {
            word = static_cast<uint32_t>(random());
            if (f.from_halves || random() % 4 == 0) continue;
            word = (word & 0x807fffff) | static_cast<uint32_t>(127 - 20 + random() % 32) << 23;
            if (random() % 2 == 0) word &= ~0u << random() % 23;  // few digits: ties
          }
        const Registers before = rows;
        convert_small(rows.bytes(), Registers::op(f.pack()), ~0u);
        for (uint32_t i = 0; i < kLanes; ++i) {
          const uint32_t a = before.words[0][i], b = before.words[1][i];
          const auto narrow = [&](double v) {
            return f.relu && std::signbit(v) && v == v ? 0 : small_bits(format, v);
          };
          const double upper =
              f.from_halves ? half_value(a >> 16, f.detail.bf16) : double{std::bit_cast<float>(a)};
          const double lower = f.from_halves ? half_value(a & 0xffff, f.detail.bf16)
                                             : double{std::bit_cast<float>(b)};
          ASSERT_EQ(rows.words[3][i], narrow(lower) | narrow(upper) << distance)
              << int(format) << " " << options << std::hex << " of " << a << " " << b;
        }
      }
    }
    for (const bool bf16 : {false, true}) {
      SmallFlags f{};
      f.detail.format = format, f.detail.widens = true, f.detail.bf16 = bf16;
      for (uint32_t first = 0; first < 0x10000; first += kLanes) {
        Registers rows;
        for (uint32_t i = 0; i < kLanes; ++i) rows.words[0][i] = first + i;
        convert_small(rows.bytes(), Registers::op(f.pack()), ~0u);
        for (uint32_t i = 0; i < kLanes; ++i) {
          const auto wide = [&](uint32_t bits) {
            return half_bits(small_value(format, bits & ((1u << distance) - 1)), bf16,
                             Round::kNearest);
          };
          ASSERT_EQ(rows.words[3][i], wide(first + i) | wide((first + i) >> distance) << 16);
        }
      }
    }
  }
}

/// Checks every significand with an even and an odd exponent; other exponents only scale the
/// results.
TEST(Approximations, ReciprocalSquareRootsAreQuotientsRoundedOnce) {
  const auto expect = [](uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    const auto want = static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
    const float got = rsqrt_approx(x);
    return std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(want);
  };
  uint32_t wrong = 0;
  for (uint32_t bits = 127u << 23; bits < 129u << 23; ++bits) wrong += expect(bits) ? 0 : 1;
  for (uint32_t bits = 0; bits < 1u << 23; bits += 7) wrong += expect(bits) ? 0 : 1;  // subnormal
  for (uint32_t exponent = 1; exponent < 255; ++exponent)
    for (uint32_t i = 0; i < 1000; ++i) wrong += expect(exponent << 23 | i * 8387) ? 0 : 1;
  EXPECT_EQ(wrong, 0u);
  for (const uint32_t bits : {0u, 0x80000000u, 0x7f800000u}) EXPECT_TRUE(expect(bits)) << bits;
  for (const uint32_t bits : {0xff800000u, 0xbf800000u, 0x80000001u, 0x7f800001u, 0x7fffffffu})
    EXPECT_EQ(std::bit_cast<uint32_t>(rsqrt_approx(std::bit_cast<float>(bits))), kNan32) << bits;
}

}  // namespace
}  // namespace nearwarp::exec
