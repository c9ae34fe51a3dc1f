// Do the bit-mask choices find the same as a plain walk around the ring?
#include "device/noc/islip.h"

#include <gtest/gtest.h>

#include <random>

namespace nearwarp::testing {
namespace {

TEST(Islip, PicksTheFirstAtOrAfterThePointer) {
  EXPECT_EQ(noc::pick_from(0b1010, 0), 1u);
  EXPECT_EQ(noc::pick_from(0b1010, 1), 1u);
  EXPECT_EQ(noc::pick_from(0b1010, 2), 3u);
  EXPECT_EQ(noc::pick_from(0b1010, 4), 1u);
  EXPECT_EQ(noc::pick_from(uint64_t{1} << 63, 64), 63u);
  EXPECT_EQ(noc::pick_from(~uint64_t{0}, 64), 0u);
}

TEST(Islip, PicksAmongPortsAndChannels) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const uint32_t ports = 1 + random() % 64, vcs = 1 + random() % 32;
    uint32_t masks[64] = {};
    uint64_t with = 0;
    std::vector<uint32_t> requesters;
    for (uint32_t i = 0; i < ports * vcs; ++i) {
      if (random() % (1 + round % 40) != 0) continue;
      masks[i / vcs] |= 1u << (i % vcs);
      with |= uint64_t{1} << (i / vcs);
      requesters.push_back(i);
    }
    if (requesters.empty()) continue;
    // The pointer as the allocator keeps it: one beyond a partner.
    const uint32_t partner = random() % (ports * vcs);
    const noc::PortVc from =
        round % 7 == 0
            ? noc::PortVc{}
            : noc::after({static_cast<uint8_t>(partner / vcs), static_cast<uint8_t>(partner % vcs)},
                         vcs);
    const uint32_t start = from.port * vcs + from.vc;
    uint32_t expected = requesters.front();
    for (const uint32_t r : requesters) {
      if (r >= start) {
        expected = r;
        break;
      }
    }
    const noc::PortVc got = noc::pick_from(with, masks, from);
    ASSERT_EQ(got.port * vcs + got.vc, expected) << "from " << start;
  }
}

}  // namespace
}  // namespace nearwarp::testing
