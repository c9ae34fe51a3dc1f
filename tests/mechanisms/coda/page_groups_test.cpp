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

TEST(PageGroups, PagesBehindAUnitHaveGroupsOfTheirOwn) {
  PageGroups pages(4, 3, 2);  // 8 pages each
  EXPECT_EQ(pages.take_cgp(1), 1u);
  EXPECT_EQ(pages.take_cgp(1), 5u);
  EXPECT_EQ(pages.take_unit(1, 1), 8u + 5);
  EXPECT_EQ(pages.take_unit(1, 0), 8u + 1);
  EXPECT_EQ(pages.take_cgp(1), 16u + 1);
  EXPECT_FALSE(pages.take_unit(1, 1));
  EXPECT_EQ(pages.take_cgp(0), 0u);
  EXPECT_EQ(pages.pages_held(), 24u);
}

struct Shape {
  uint32_t stacks, units;
};

TEST(PageGroups, AnyOrderOfTakingAndGivingBack) {
  for (const auto& [stacks, units] :
       {Shape{1, 1}, {2, 1}, {4, 1}, {8, 1}, {64, 1}, {128, 1}, {1, 4}, {4, 2}, {128, 4}}) {
    constexpr uint32_t kGroups = 20;
    const uint32_t in_group = stacks * units;
    PageGroups pages(stacks, kGroups, units);
    std::mt19937 random(stacks);
    std::map<PageGroups::Frame, PageMode> taken;
    for (int step = 0; step < 5000; ++step) {
      if (random() % 5 < 3) {
        const auto stack = static_cast<uint32_t>(random() % stacks),
                   unit = static_cast<uint32_t>(random() % units);
        const auto mode = static_cast<PageMode>(random() % (units == 1 ? 2 : 3));
        const auto frame = mode == PageMode::kFgp   ? pages.take_fgp()
                           : mode == PageMode::kCgp ? pages.take_cgp(stack)
                                                    : pages.take_unit(stack, unit);
        if (!frame) continue;
        ASSERT_LT(*frame, in_group * kGroups);
        ASSERT_TRUE(taken.emplace(*frame, mode).second);
        if (mode != PageMode::kFgp) {
          ASSERT_EQ(*frame % stacks, stack);
        }
        if (mode == PageMode::kCgpUnit) {
          ASSERT_EQ(*frame / stacks % units, unit);
        }
      } else if (!taken.empty()) {
        const auto at = std::next(taken.begin(), static_cast<int>(random() % taken.size()));
        pages.give_back(at->first);
        taken.erase(at);
      }
      std::map<uint32_t, PageMode> groups;
      for (const auto& [frame, mode] : taken) {
        const auto [group, is_new] = groups.emplace(frame / in_group, mode);
        ASSERT_EQ(group->second, mode);
        ASSERT_EQ(pages.mode(frame), mode);
      }
      ASSERT_EQ(pages.pages_taken(), taken.size());
      ASSERT_EQ(pages.pages_held(), groups.size() * in_group);
    }
  }
}

}  // namespace
}  // namespace nearwarp::coda
