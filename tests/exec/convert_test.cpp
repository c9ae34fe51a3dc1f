// Are conversions of all lanes at once those of one value, for all formats, roundings, and bits?
#include <gtest/gtest.h>

#include <random>

#include "host/functional/instructions/convert_rows.h"
#include "host/functional/instructions/float_ops.h"
#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/long_rows.h"
#include "tests/support/rounds.h"

namespace nearwarp::exec {
namespace {

constexpr Number kNumbers[] = {Number::kU8,  Number::kS8,   Number::kU16, Number::kS16,
                               Number::kU32, Number::kS32,  Number::kU64, Number::kS64,
                               Number::kF16, Number::kBF16, Number::kF32, Number::kF64};

/// Draws values of a format, as bits: near the limits of all other formats, infinities, NaNs,
/// values with few digits, and any.
class Values {
 public:
  explicit Values(Number format) : format_(format), random_(static_cast<uint32_t>(format)) {}

  uint64_t next() {
    const uint64_t any = random_();
    if (is_float(format_) && bits_of(format_) == 16 && count_ < kAllOf16) return count_++;
    if (!is_float(format_)) {
      const uint64_t at = uint64_t{1} << (random_() % 64);
      switch (random_() % 4) {
        case 0:
          return at + any % 5 - 2;
        case 1:
          return ~at + any % 5;
        case 2:
          return any >> (any % 64);
        default:
          return any;
      }
    }
    const double limit = std::ldexp(1.0, static_cast<int>(random_() % 70) - 2);
    double v;
    switch (random_() % 6) {
      case 0:
        v = limit + static_cast<double>(any % 9) * 0.25 - 1;
        break;
      case 1:
        v = -limit + static_cast<double>(any % 9) * 0.25 - 1;
        break;
      case 2:
        v = std::ldexp(static_cast<double>(any >> 11), static_cast<int>(any % 400) - 250);
        break;
      case 3:
        v = static_cast<double>(static_cast<int64_t>(any)) * 0x1p-52;
        break;
      default:
        return any;  // NaNs, too
    }
    if (format_ == Number::kF64) return std::bit_cast<uint64_t>(v);
    const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(v));
    if (format_ == Number::kF32) return bits;
    if (format_ == Number::kBF16) return bits >> 16;
    return convert_value({Number::kF64, Number::kF16, Round::kNearest, false, false, false, 4},
                         std::bit_cast<uint64_t>(v));
  }

 private:
  static constexpr uint32_t kAllOf16 = 1 << 16;
  Number format_;
  std::mt19937_64 random_;
  uint32_t count_ = 0;
};

struct Rows {
  alignas(64) uint8_t bytes[4 * kLanes * sizeof(uint64_t)] = {};
};

/// Compares rounds of a warp for a pair of formats; returns how many of them were done at once.
uint32_t check(const ConvertFlags& f, bool wide_source, uint32_t rounds) {
  Values values(f.from);
  std::mt19937 random(7);
  uint32_t at_once = 0;
  for (uint32_t k = 0; k < rounds; ++k) {
    Rows rows;
    Op op{};
    op.a = 0;
    op.d = 2;
    op.b = wide_source ? 1 : 0;
    op.imm = f.pack();
    const uint32_t mask = k % 3 == 0 ? ~0u : static_cast<uint32_t>(random());
    uint64_t before[kLanes], source[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) {
      source[i] = wide_source ? values.next() : values.next() & 0xffffffff;
      before[i] = f.reg_bytes == 8 ? 0x1234567812345678 : 0x12345678;
      if (wide_source)
        row<uint64_t>(rows.bytes, op.a)[i] = source[i];
      else
        row<uint32_t>(rows.bytes, op.a)[i] = static_cast<uint32_t>(source[i]);
      if (f.reg_bytes == 8)
        row<uint64_t>(rows.bytes, op.d)[i] = before[i];
      else
        row<uint32_t>(rows.bytes, op.d)[i] = static_cast<uint32_t>(before[i]);
    }
    if (!convert_rows(rows.bytes, op, mask)) return 0;
    ++at_once;
    for (uint32_t i = 0; i < kLanes; ++i) {
      const uint64_t found = f.reg_bytes == 8 ? row<uint64_t>(rows.bytes, op.d)[i]
                                              : row<uint32_t>(rows.bytes, op.d)[i];
      uint64_t want = convert_value(f, source[i]);
      if (f.reg_bytes != 8) want = f.reg_bytes == 2 ? want & 0xffff : static_cast<uint32_t>(want);
      if ((mask >> i & 1) == 0) want = before[i];
      if (found == want) continue;
      ADD_FAILURE() << "from " << int(f.from) << " to " << int(f.to) << ", rounding "
                    << int(f.round) << (f.integral ? ", integral" : "") << (f.ftz ? ", ftz" : "")
                    << (f.saturate ? ", sat" : "") << ": " << std::hex << source[i] << " is "
                    << found << ", not " << want;
      return at_once;
    }
  }
  return at_once;
}

TEST(ConvertRows, AreConversionsOfEachLane) {
  // 2^20 values of each pair of formats, over roundings and options; of those of 16 bits, all.
  constexpr uint32_t kRounds = testing::rounds(2100);
  uint32_t kinds = 0, at_once = 0;
  for (const Number from : kNumbers) {
    for (const Number to : kNumbers) {
      for (const Round round : {Round::kNearest, Round::kZero, Round::kDown, Round::kUp}) {
        for (uint32_t options = 0; options < 8; ++options) {
          ConvertFlags f{
              from, to, round, (options & 1) != 0, (options & 2) != 0, (options & 4) != 0, 4};
          if (f.integral && !(is_float(from) && is_float(to))) continue;
          if (f.ftz && from != Number::kF32 && to != Number::kF32) continue;
          if (!is_float(from) && !is_float(to) && round != Round::kNearest) continue;
          f.reg_bytes = static_cast<uint8_t>(bits_of(to) == 64 ? 8 : bits_of(to) <= 16 ? 2 : 4);
          const bool wide = bits_of(from) == 64 || options % 3 == 2;
          ++kinds;
          at_once += check(f, wide, kRounds) == kRounds ? 1 : 0;
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(kinds, 900u);
#if defined(__F16C__)
  EXPECT_EQ(at_once, kinds);
#else
  EXPECT_GT(at_once, kinds / 2) << "of " << kinds;
#endif
}

/// PTX ISA 9.0, cvt: 0 if neither the source is .f64 nor the destination has 64 bits, else
/// 1 << (bits of the destination - 1).
TEST(ConvertRows, WhatIsNoNumberBecomesZeroOrTheTopBit) {
  struct Case {
    Number from, to;
    uint64_t nan, want;
  };
  constexpr uint64_t kHalf = 0x7e00, kBrain = 0xffc0, kSingle = 0xffc00001,
                     kDouble = 0x7ff8000000000000, kTop = 0x8000000000000000;
  constexpr Case kCases[] = {{Number::kF16, Number::kS32, kHalf, 0},
                             {Number::kF16, Number::kU64, kHalf, kTop},
                             {Number::kF16, Number::kS64, kHalf, kTop},
                             {Number::kBF16, Number::kU32, kBrain, 0},
                             {Number::kBF16, Number::kS64, kBrain, kTop},
                             {Number::kF32, Number::kU8, kSingle, 0},
                             {Number::kF32, Number::kS16, kSingle, 0},
                             {Number::kF32, Number::kS32, kSingle, 0},
                             {Number::kF32, Number::kU32, kSingle, 0},
                             {Number::kF32, Number::kS64, kSingle, kTop},
                             {Number::kF32, Number::kU64, kSingle, kTop},
                             {Number::kF64, Number::kU16, kDouble, 0x8000},
                             {Number::kF64, Number::kS16, kDouble, 0x8000},
                             {Number::kF64, Number::kS32, kDouble, 1u << 31},
                             {Number::kF64, Number::kU32, kDouble, 1u << 31},
                             {Number::kF64, Number::kS64, kDouble, kTop},
                             {Number::kF64, Number::kU64, kDouble, kTop}};
  for (const Case& k : kCases) {
    const unsigned bytes = bits_of(k.to) <= 16 ? 2 : bits_of(k.to) / 8;
    const uint64_t register_bits = ~uint64_t{0} >> (64 - 8 * bytes);
    // To the nearest away from zero goes lane by lane, the others all at once.
    for (const Round round : {Round::kZero, Round::kNearest, Round::kNearestAway}) {
      const ConvertFlags f{k.from, k.to, round, true, false, false, static_cast<uint8_t>(bytes)};
      EXPECT_EQ(convert_value(f, k.nan) & register_bits, k.want) << int(k.from) << int(k.to);
      Rows rows;
      Op op{};
      op.d = 2;
      op.b = bits_of(k.from) == 64 ? 1 : 0;
      op.imm = f.pack();
      if (op.b != 0)
        row<uint64_t>(rows.bytes, 0)[5] = k.nan;
      else
        row<uint32_t>(rows.bytes, 0)[5] = static_cast<uint32_t>(k.nan);
      convert(rows.bytes, op, ~0u);
      EXPECT_EQ(bytes == 8 ? row<uint64_t>(rows.bytes, 2)[5] : row<uint32_t>(rows.bytes, 2)[5],
                k.want)
          << int(k.from) << " " << int(k.to) << " " << int(round);
    }
  }
  EXPECT_EQ(truncated_s32(std::nan("")), INT32_MIN);
  EXPECT_EQ(truncated_s32(std::nanf("")), 0);
  EXPECT_EQ(truncated_u32(std::nanf("")), 0u);
}

// --- Codes of single conversions ---------------------------------------------------------------

constexpr uint32_t kPatterns = testing::rounds(1 << 20);

/// Checks that f(bits) equals convert_value(), for 2^20 values of a format or all of them.
template <class F>
void expect_same(Number from, Number to, Round round, bool integral, F&& f) {
  Values values(from);
  const ConvertFlags flags{
      from, to, round, integral, false, false, static_cast<uint8_t>(bits_of(to) == 64 ? 8 : 4)};
  const uint64_t most = bits_of(to) == 64 ? ~uint64_t{0} : 0xffffffff;
  for (uint32_t i = 0; i < kPatterns; ++i) {
    const uint64_t bits = bits_of(from) == 64 ? values.next() : values.next() & 0xffffffff;
    ASSERT_EQ(f(bits), convert_value(flags, bits) & most)
        << "from " << int(from) << " to " << int(to) << std::hex << " of " << bits;
  }
}
float f32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double f64(uint64_t bits) { return std::bit_cast<double>(bits); }
uint64_t bits(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t bits(double v) { return std::bit_cast<uint64_t>(v); }

TEST(ConvertCodes, AreTheConversions) {
  const auto s32 = [](int32_t v) -> uint64_t { return static_cast<uint32_t>(v); };
  expect_same(Number::kF32, Number::kS32, Round::kZero, true,
              [&](uint64_t b) { return s32(truncated_s32(f32(b))); });
  expect_same(Number::kF32, Number::kU32, Round::kZero, true,
              [](uint64_t b) -> uint64_t { return truncated_u32(f32(b)); });
  expect_same(Number::kF64, Number::kS32, Round::kZero, true,
              [&](uint64_t b) { return s32(truncated_s32(f64(b))); });
  expect_same(Number::kF16, Number::kF32, Round::kNearest, false,
              [](uint64_t b) { return bits(half_to_float(static_cast<uint32_t>(b))); });
  expect_same(Number::kF32, Number::kF16, Round::kNearest, false,
              [](uint64_t b) -> uint64_t { return float_to_half(f32(b)); });
  const auto whole = [](Round round, auto f) {
    expect_same(Number::kF32, Number::kF32, round, true,
                [&](uint64_t b) { return bits(number_or_nan(f(f32(b)))); });
    expect_same(Number::kF64, Number::kF64, round, true,
                [&](uint64_t b) { return bits(number_or_nan(f(f64(b)))); });
  };
  whole(Round::kDown, [](auto v) { return std::floor(v); });
  whole(Round::kUp, [](auto v) { return std::ceil(v); });
  whole(Round::kZero, [](auto v) { return std::trunc(v); });
  whole(Round::kNearest, [](auto v) { return std::rint(v); });
  expect_same(Number::kS64, Number::kF64, Round::kNearest, false,
              [](uint64_t b) { return bits(static_cast<double>(static_cast<int64_t>(b))); });
}

/// Checks rows of integers below 2^digits, and their limits. Rows whose values all fit in 32 bits
/// are converted by other code than the rest.
template <bool kSigned>
void expect_longs_as_floats() {
  const ConvertFlags flags{
      kSigned ? Number::kS64 : Number::kU64, Number::kF32, Round::kNearest, false, false, false, 4};
  std::mt19937_64 random(11);
  uint32_t rows = 0;
  for (int digits = 1; digits <= 64; ++digits) {
    for (int round = 0; round < 512; ++round, ++rows) {
      uint64_t from[kLanes];
      float to[kLanes];
      for (uint64_t& v : from) {
        v = random() >> (64 - digits);
        const uint64_t limit = digits == 64 ? 0 : uint64_t{1} << digits;
        if (random() % 4 == 0) v = limit - 1 - random() % 3;
        // Values near the middle between two numbers of f32.
        if (digits > 26 && random() % 4 == 0)
          v = (v & ~((uint64_t{1} << (digits - 24)) - 1)) + (uint64_t{1} << (digits - 25)) +
              random() % 3 - 1;
        if (kSigned && digits < 64 && (random() & 1) != 0) v = ~v;
      }
      floats_of_longs<kSigned>(from, to);
      for (uint32_t i = 0; i < kLanes; ++i)
        ASSERT_EQ(bits(to[i]), convert_value(flags, from[i]) & 0xffffffff) << std::hex << from[i];
    }
  }
  EXPECT_GE(rows * kLanes, kPatterns);
}

TEST(ConvertCodes, LongsBecomeTheNearestFloats) {
  expect_longs_as_floats<true>();
  expect_longs_as_floats<false>();
}

}  // namespace
}  // namespace nearwarp::exec
