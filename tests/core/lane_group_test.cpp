// Do the primitives of lane groups equal plain loops, for widths around their internal boundaries?
#include "kernels/lane_group.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace nearwarp::kernels {
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
      g.each_alone(bits, [&](uint32_t i) { visits[i] += 10; });
      for (uint32_t i = 0; i < 64; ++i) expected[i] += (bits >> i & 1) * 10;
      EXPECT_EQ(visits, expected);

      uint64_t ballot = 0;
      uint32_t least = 0xffffffffu;
      for (uint32_t i = 0; i < n; ++i) {
        ballot |= uint64_t{pred(i)} << i;
        if (key[i] < least) least = key[i];
      }
      EXPECT_EQ(g.ballot(n, pred), ballot);
      EXPECT_EQ(g.minimum(n, value), least);
      EXPECT_EQ(g.filter(bits, pred), bits & ballot);
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

TEST(LaneGroup, LeaderRunsOnce) {
  int runs = 0;
  HostGroup{}.leader([&] { ++runs; });
  ShuffledGroup{2}.leader([&] { ++runs; });
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(HostGroup{}.leader_value([] { return uint64_t{1} << 40; }), uint64_t{1} << 40);
  EXPECT_EQ(ShuffledGroup{5}.leader_value([] { return 9u; }), 9u);
}

}  // namespace
}  // namespace nearwarp::kernels
