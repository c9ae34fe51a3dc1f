// Where can programs be divided: only where no launch is in flight beside another?
#include "host/recording/launch_cuts.h"

#include <gtest/gtest.h>

namespace nearwarp::runtime {
namespace {

/// Launches of so many warp-instructions, each after all before.
Recording in_order(const std::vector<uint64_t>& work) {
  Recording r;
  for (const uint64_t w : work) r.launches.emplace_back().warp_instructions = w;
  return r;
}

void after(Recording& r, uint32_t launch, std::vector<uint32_t> before) {
  r.launches[launch].after_all = false;
  r.launches[launch].after = std::move(before);
}

using Cuts = std::vector<bool>;

TEST(LaunchCuts, BetweenLaunchesInOrder) {
  EXPECT_EQ(launch_cuts(in_order({})), Cuts({true}));
  EXPECT_EQ(launch_cuts(in_order({1})), Cuts({true, true}));
  EXPECT_EQ(launch_cuts(in_order({1, 2, 3})), Cuts({true, true, true, true}));
}

TEST(LaunchCuts, NotBetweenThoseThatMayRunTogether) {
  // Launches 1, 2 and 3 run side by side, after 0 and before 4.
  Recording fork = in_order({1, 1, 1, 1, 1});
  for (const uint32_t i : {1u, 2u, 3u}) after(fork, i, {0});
  EXPECT_EQ(launch_cuts(fork), Cuts({true, true, false, false, true, true}));
  after(fork, 4, {1, 2, 3});
  EXPECT_EQ(launch_cuts(fork), Cuts({true, true, false, false, true, true}));
  after(fork, 4, {1, 3});  // 4 may run beside 2
  EXPECT_EQ(launch_cuts(fork), Cuts({true, true, false, false, false, true}));
}

TEST(LaunchCuts, ALateLaunchThatWaitsForNobodyJoinsAllBeforeIt) {
  Recording r = in_order({1, 1, 1, 1});
  after(r, 2, {});
  EXPECT_EQ(launch_cuts(r), Cuts({true, false, false, true, true}));
}

TEST(LaunchCuts, ThroughOthers) {
  Recording r = in_order({1, 1, 1, 1});
  after(r, 1, {0});
  after(r, 2, {1});
  after(r, 3, {2});
  EXPECT_EQ(launch_cuts(r), Cuts({true, true, true, true, true}));
}

TEST(LaunchCuts, NotInProgramsThatRunTogether) {
  Recording r = in_order({1, 1, 1});
  r.applications = {"a", "b"};
  EXPECT_EQ(launch_cuts(r), Cuts({true, false, false, true}));
}

TEST(LaunchPart, BeginsAtACutWithEnoughBefore) {
  const Cuts all(11, true);
  EXPECT_EQ(part_of(all, 5, 7, 2), (LaunchPart{3, 5, 7}));
  EXPECT_EQ(part_of(all, 1, 7, 2), (LaunchPart{0, 1, 7}));
  EXPECT_EQ(part_of(all, 5, 7, 0), (LaunchPart{5, 5, 7}));
  Cuts some = all;
  some[3] = some[2] = false;
  EXPECT_EQ(part_of(some, 5, 7, 2), (LaunchPart{1, 5, 7}));
}

}  // namespace
}  // namespace nearwarp::runtime
