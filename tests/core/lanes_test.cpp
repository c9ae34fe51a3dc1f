// Do the loops of lanes.h give what plain loops give, for widths around their internal boundaries?
#include "device/core/lanes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nearwarp {
namespace {

constexpr uint32_t kWidths[] = {0, 1, 3, 4, 7, 8, 12, 31, 32, 33, 48, 63, 64};

/// Keys with few distinct values, so that ties are common; in some rounds no key or every key
/// satisfies the predicate.
std::vector<uint32_t> some_keys(std::mt19937& random, int round) {
  std::vector<uint32_t> key(64);
  const uint32_t range = round % 3 == 0 ? 1 : round % 3 == 1 ? 5 : 0xffffffffu;
  for (uint32_t& k : key) k = random() % range;
  return key;
}

TEST(Lanes, EachIsVisitedOnce) {
  for (const uint32_t n : kWidths) {
    std::vector<uint32_t> visits(64, 0), expected(64, 0);
    lanes::each(n, [&](uint32_t i) { visits[i] = visits[i] + 1; });
    lanes::each_scalar(n, [&](uint32_t i) { visits[i] += 10; });
    lanes::each_bit(low_bits(n) & 0xf0f0'f0f0'1111'3333u, [&](uint32_t i) { visits[i] += 100; });
    for (uint32_t i = 0; i < n; ++i) expected[i] = 11 + (0xf0f0'f0f0'1111'3333u >> i & 1) * 100;
    EXPECT_EQ(visits, expected) << n;
  }
}

TEST(Lanes, AgreeWithLoops) {
  std::mt19937 random(1);
  for (const uint32_t n : kWidths) {
    SCOPED_TRACE(n);
    for (int round = 0; round < 30; ++round) {
      const std::vector<uint32_t> key = some_keys(random, round);
      const uint32_t bound = random() % 5;
      const auto pred = [&](uint32_t i) { return key[i] > bound; };
      const auto value = [&](uint32_t i) { return key[i]; };
      uint64_t ballot = 0;
      uint32_t first = kNoLane, least = 0xffffffffu, least_at = kNoLane;
      for (uint32_t i = 0; i < n; ++i) {
        if (pred(i)) {
          ballot |= uint64_t{1} << i;
          first = first == kNoLane ? i : first;
        }
        if (key[i] < least) least = key[i], least_at = i;
      }
      EXPECT_EQ(lanes::ballot(n, pred), ballot);
      EXPECT_EQ(lanes::any(n, pred), ballot != 0);
      EXPECT_EQ(lanes::first(n, pred), first);
      EXPECT_EQ(lanes::minimum(n, value), least);
      EXPECT_EQ(lanes::arg_min(n, value), least_at);
    }
  }
}

TEST(Lanes, ArgMinOfNothing) {
  EXPECT_EQ(lanes::arg_min(40, [](uint32_t) { return 0xffffffffu; }), kNoLane);
}

TEST(Bits, LowBits) {
  EXPECT_EQ(low_bits(0), 0u);
  EXPECT_EQ(low_bits(1), 1u);
  EXPECT_EQ(low_bits(63), ~uint64_t{0} >> 1);
  EXPECT_EQ(low_bits(64), ~uint64_t{0});
}

}  // namespace
}  // namespace nearwarp
