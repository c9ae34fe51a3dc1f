// Are programs divided only where no launch is in flight beside another, and how?
#include "host/recording/launch_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  // 0, then 1 and 2 and 3 beside each other, then 4.
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

/// Parts follow each other, cover all, and begin where they may.
void expect_whole(const std::vector<LaunchPart>& parts, const Recording& r, uint32_t before) {
  const Cuts cuts = launch_cuts(r);
  uint32_t at = 0;
  for (const LaunchPart& p : parts) {
    EXPECT_EQ(p.first, at);
    EXPECT_GT(p.end, p.first);
    EXPECT_TRUE(cuts[p.first]);
    EXPECT_EQ(p, part_of(cuts, p.first, p.end, before));
    at = p.end;
  }
  EXPECT_EQ(at, r.launches.size());
}

uint64_t most_work(const std::vector<LaunchPart>& parts, const Recording& r) {
  uint64_t most = 0;
  for (const LaunchPart& p : parts) {
    uint64_t work = 0;
    for (uint32_t i = p.begin; i < p.end; ++i) work += r.launches[i].warp_instructions;
    most = std::max(most, work);
  }
  return most;
}

TEST(LaunchPart, DivideBalancesWhatIsSimulated) {
  const Recording r = in_order(std::vector<uint64_t>(12, 10));
  for (const uint32_t n : {1u, 2u, 3u, 4u}) {
    const std::vector<LaunchPart> parts = divide(r, n, 2);
    EXPECT_EQ(parts.size(), n);
    expect_whole(parts, r, 2);
  }
  EXPECT_EQ(most_work(divide(r, 1, 2), r), 120u);
  EXPECT_EQ(most_work(divide(r, 2, 2), r), 70u);  // 7, and 5 after 2
  EXPECT_EQ(most_work(divide(r, 2, 0), r), 60u);
  EXPECT_EQ(most_work(divide(r, 3, 2), r), 60u);  // 6, and 3 after 2 twice, or so
  EXPECT_EQ(divide(in_order({}), 4, 2).size(), 0u);
}

TEST(LaunchPart, DivideLeavesTheFirstLaunchesTogether) {
  const Recording r = in_order(std::vector<uint64_t>(12, 10));
  for (const uint32_t together : {1u, 4u, 7u, 12u, 20u}) {
    const std::vector<LaunchPart> parts = divide(r, 6, 2, together);
    EXPECT_GE(parts[0].end, std::min(together, 12u));
    for (size_t i = 1; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].first, parts[i - 1].end);
      EXPECT_EQ(parts[i].begin, parts[i].first - 2) << "those before it may be among them";
    }
    EXPECT_EQ(parts.back().end, 12u);
  }
}

TEST(LaunchPart, DivideBySizeNotByNumber) {
  const Recording r = in_order({100, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<LaunchPart> parts = divide(r, 2, 0);
  EXPECT_EQ(parts, (std::vector<LaunchPart>{{0, 0, 1}, {1, 1, 8}}));
}

TEST(LaunchPart, DivideKeepsTogetherWhatRunsTogether) {
  Recording r = in_order(std::vector<uint64_t>(9, 10));
  for (const uint32_t i : {3u, 4u, 5u}) after(r, i, {2});
  for (uint32_t n = 1; n < 9; ++n) expect_whole(divide(r, n, 1), r, 1);
  EXPECT_LE(divide(r, 100, 0).size(), 7u);
}

TEST(LaunchPart, WithoutANumberThereIsAtMostATwelfthMoreToDo) {
  for (const uint32_t launches : {40u, 100u, 400u}) {
    const Recording r = in_order(std::vector<uint64_t>(launches, 10));
    const std::vector<LaunchPart> parts = divide(r, 0, 2);
    expect_whole(parts, r, 2);
    EXPECT_EQ(parts.size(), launches == 40 ? 2u : launches == 100 ? 4u : 16u);
    EXPECT_LE(parts.size(), 16u);
    uint32_t more = 0;
    for (const LaunchPart& p : parts) more += p.first - p.begin;
    EXPECT_LE(more, parts.size() == 2 ? 2 : launches / 12);
  }
}

}  // namespace
}  // namespace nearwarp::runtime
