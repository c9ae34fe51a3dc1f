// The lane groups' primitives against plain loops, for widths around their internal boundaries.
#include "device/core/lane_group.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace nearwarp {
namespace {

constexpr uint32_t kWidths[] = {0, 1, 31, 32, 33, 48, 63, 64};

template <class G>
void check_group(const G& g, uint32_t seed) {
  std::mt19937 random(seed);
  for (const uint32_t n : kWidths) {
    SCOPED_TRACE(n);
    for (int round = 0; round < 20; ++round) {
      // Few distinct keys, so that ties are common; some rounds none or all satisfy.
      std::vector<uint32_t> key(64);
      const uint32_t range = round % 3 == 0 ? 1 : round % 3 == 1 ? 5 : 0xffffffffu;
      for (uint32_t& k : key) k = random() % range;
      const uint64_t bits = (uint64_t{random()} << 32 | random()) & low_bits(n);
      const uint32_t bound = random() % 5;
      const auto pred = [&](uint32_t i) { return key[i] > bound; };
      const auto value = [&](uint32_t i) { return key[i]; };

      std::vector<uint32_t> visits(64, 0), expected(64, 0);
      g.each(n, [&](uint32_t i) { visits[i] = visits[i] + 1; });
      for (uint32_t i = 0; i < n; ++i) expected[i] = 1;
      EXPECT_EQ(visits, expected);
      g.each_scalar(n, [&](uint32_t i) { visits[i] += 1; });
      for (uint32_t i = 0; i < n; ++i) expected[i] = 2;
      EXPECT_EQ(visits, expected);
      g.each_bit(bits, [&](uint32_t i) { visits[i] += 10; });
      for (uint32_t i = 0; i < 64; ++i) expected[i] += (bits >> i & 1) * 10;
      EXPECT_EQ(visits, expected);

      uint64_t ballot = 0, kept = 0;
      uint32_t first = kNoLane, least = 0xffffffffu, least_at = kNoLane;
      uint32_t bits_least = 0xffffffffu, bits_at = kNoLane, sum = 0;
      std::vector<uint32_t> before(64, 7), got_before(64, 7);
      for (uint32_t i = 0; i < n; ++i) {
        if (pred(i)) {
          ballot |= uint64_t{1} << i;
          first = first == kNoLane ? i : first;
        }
        if (key[i] < least) least = key[i], least_at = i;
        if ((bits >> i & 1) != 0) {
          if (bits_at == kNoLane || key[i] < bits_least) bits_least = key[i], bits_at = i;
          if (pred(i)) kept |= uint64_t{1} << i;
        }
        before[i] = sum;
        sum += key[i];
      }
      std::array<uint64_t, kLanesOfGroup> own;
      g.each(kLanesOfGroup, [&](uint32_t i) { own[i] = uint64_t{key[i]} << 20 | i; });
      g.each(kLanesOfGroup, [&](uint32_t i) { EXPECT_EQ(own[i], uint64_t{key[i]} << 20 | i); });

      EXPECT_EQ(g.ballot(n, pred), ballot);
      EXPECT_EQ(g.any(n, pred), ballot != 0);
      EXPECT_EQ(g.first(n, pred), first);
      EXPECT_EQ(g.minimum(n, value), least);
      EXPECT_EQ(g.arg_min(n, value), least_at);
      EXPECT_EQ(g.arg_min_bits(bits, value), bits_at);
      EXPECT_EQ(g.filter(bits, pred), kept);
      EXPECT_EQ(g.exclusive_scan(n, value, [&](uint32_t i, uint32_t s) { got_before[i] = s; }),
                sum);
      EXPECT_EQ(got_before, before);
    }
  }
}

TEST(LaneGroup, HostGroupAgreesWithLoops) { check_group(HostGroup{}, 1); }

TEST(LaneGroup, ShuffledGroupAgreesWithLoops) {
  for (uint32_t seed = 1; seed <= 8; ++seed) check_group(ShuffledGroup{seed}, seed);
}

TEST(LaneGroup, ShuffledGroupVisitsInAnotherOrder) {
  for (const uint32_t seed : {1u, 2u, 7u}) {
    std::vector<uint32_t> order;
    ShuffledGroup{seed}.each(48, [&](uint32_t i) { order.push_back(i); });
    std::vector<uint32_t> straight(48);
    for (uint32_t i = 0; i < 48; ++i) straight[i] = i;
    EXPECT_NE(order, straight);
  }
}

TEST(LaneGroup, ArgMinOfNothing) {
  const auto never = [](uint32_t) { return 0xffffffffu; };
  EXPECT_EQ(HostGroup{}.arg_min(40, never), kNoLane);
  EXPECT_EQ(ShuffledGroup{3}.arg_min(40, never), kNoLane);
  EXPECT_EQ(HostGroup{}.arg_min_bits(0, never), kNoLane);
}

TEST(LaneGroup, LeaderRunsOnce) {
  int runs = 0;
  HostGroup{}.leader([&] { ++runs; });
  ShuffledGroup{2}.leader([&] { ++runs; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(HostGroup{}.leader_value([] { return uint64_t{1} << 40; }), uint64_t{1} << 40);
  EXPECT_EQ(ShuffledGroup{5}.leader_value([] { return 9u; }), 9u);
}

TEST(LaneGroup, LowBits) {
  EXPECT_EQ(low_bits(0), 0u);
  EXPECT_EQ(low_bits(1), 1u);
  EXPECT_EQ(low_bits(63), ~uint64_t{0} >> 1);
  EXPECT_EQ(low_bits(64), ~uint64_t{0});
}

}  // namespace
}  // namespace nearwarp
