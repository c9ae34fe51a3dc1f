// Are page groups of one mode each, whatever is taken and given back?
#include "host/mechanisms/coda/page_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace nearwarp::coda {
namespace {

TEST(PageGroups, TheLowestPageOfTheMode) {
  PageGroups pages(4, 8);
  EXPECT_EQ(pages.take_fgp(), 0u);
  EXPECT_EQ(pages.take_cgp(2), 6u);  // a group of its own
  EXPECT_EQ(pages.take_fgp(), 1u);
  EXPECT_EQ(pages.take_cgp(2), 10u);  // that stack's page of group 1 is taken
  EXPECT_EQ(pages.take_cgp(0), 4u);
  EXPECT_EQ(pages.pages_taken(), 5u);
  EXPECT_EQ(pages.pages_held(), 12u);
  EXPECT_DOUBLE_EQ(pages.fragmentation(), 1 - 5.0 / 12);
}

TEST(PageGroups, AGroupChangesItsModeWhenAllItsPagesAreFree) {
  PageGroups pages(4, 1);
  const auto a = pages.take_fgp(), b = pages.take_fgp();
  EXPECT_FALSE(pages.take_cgp(0));
  pages.give_back(*a);
  EXPECT_FALSE(pages.take_cgp(0));
  pages.give_back(*b);
  EXPECT_EQ(pages.fragmentation(), 0);
  EXPECT_EQ(pages.take_cgp(3), 3u);
  EXPECT_FALSE(pages.take_fgp());
  EXPECT_FALSE(pages.take_cgp(3));
}

TEST(PageGroups, AnyOrderOfTakingAndGivingBack) {
  for (const uint32_t stacks : {1u, 2u, 4u, 8u, 64u}) {
    constexpr uint32_t kGroups = 20;
    PageGroups pages(stacks, kGroups);
    std::mt19937 random(stacks);
    std::map<PageGroups::Frame, PageMode> taken;
    for (int step = 0; step < 5000; ++step) {
      if (random() % 5 < 3) {
        const auto stack = static_cast<uint32_t>(random() % stacks);
        const bool fgp = random() % 2 == 0;
        const auto frame = fgp ? pages.take_fgp() : pages.take_cgp(stack);
        if (!frame) continue;
        ASSERT_LT(*frame, stacks * kGroups);
        ASSERT_TRUE(taken.emplace(*frame, fgp ? PageMode::kFgp : PageMode::kCgp).second);
        if (!fgp) {
          ASSERT_EQ(*frame % stacks, stack);
        }
      } else if (!taken.empty()) {
        const auto at = std::next(taken.begin(), static_cast<int>(random() % taken.size()));
        pages.give_back(at->first);
        taken.erase(at);
      }
      std::map<uint32_t, PageMode> groups;
      for (const auto& [frame, mode] : taken) {
        const auto [group, is_new] = groups.emplace(frame / stacks, mode);
        ASSERT_EQ(group->second, mode);
        ASSERT_EQ(pages.mode(frame), mode);
      }
      ASSERT_EQ(pages.pages_taken(), taken.size());
      ASSERT_EQ(pages.pages_held(), groups.size() * stacks);
    }
  }
}

}  // namespace
}  // namespace nearwarp::coda
