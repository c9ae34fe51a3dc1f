// What do launches cost the host, as far as their traces tell?
#include "host/api/cost_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/whole_machine.h"

namespace nearwarp {
namespace {

/// The host takes longest for what launches ask of the memory, not for what they execute.
TEST(CostScale, LaunchesCostWhatTheyDo) {
  const runtime::Recording& recording = testing::workload("bfs-rmat");
  const CostScale scale(recording, config::load_machine("tom", {}));
  EXPECT_EQ(scale.cost(0), 0);
  uint64_t done = 0;
  double before = 0;
  std::vector<double> rates, by_kernel(scale.kernels());
  for (size_t i = 0; const runtime::LaunchRecord& launch : recording.launches) {
    EXPECT_EQ(scale.launch_of(done), i++);
    done += launch.warp_instructions;
    const double middle = scale.cost(done - launch.warp_instructions / 2), now = scale.cost(done);
    EXPECT_LT(before, middle);
    EXPECT_LT(middle, now);
    rates.push_back((now - before) / static_cast<double>(launch.warp_instructions));
    by_kernel[launch.kernel] += now - before;
    before = now;
  }
  ASSERT_GE(rates.size(), 4u);
  EXPECT_GT(std::ranges::max(rates), 2 * std::ranges::min(rates));
  std::vector<double> each(scale.kernels());
  const auto add = [&](size_t kernel, double cost) { each[kernel] += cost; };
  scale.each(0, done / 3, add);
  scale.each(done / 3, done, add);
  for (size_t k = 0; k < each.size(); ++k) {
    EXPECT_NEAR(each[k], by_kernel[k], 1e-6 * before);
    const auto launches = std::ranges::count(recording.launches, k, &runtime::LaunchRecord::kernel);
    EXPECT_NEAR(scale.launch_of_kernel(k) * static_cast<double>(launches), by_kernel[k],
                1e-6 * before);
  }
  EXPECT_EQ(CostScale().cost(17), 17);
}

TEST(WarpCurve, AnyPartOfItHasItsShareOfWhatIsAsked) {
  WarpCurve warp;
  for (int i = 0; i < 1000; ++i) {
    warp.run(10);
    if (i < 500) warp.access(4);
  }
  EXPECT_EQ(warp.instructions(), 10'000u);
  EXPECT_NEAR(warp.between(0, 10'000).lines, 2000, 1e-6);
  EXPECT_NEAR(warp.between(0, 10'000).accesses, 500, 1e-6);
  EXPECT_NEAR(warp.between(0, 2500).lines, 1000, 20);
  EXPECT_NEAR(warp.between(7000, 20'000).lines, 0, 1e-6);
}

/// A made-up launch of 64 warps on machine tom.
LaunchCost cost_of(const std::vector<WarpCurve>& warps) {
  runtime::LaunchFeatures f;
  for (const WarpCurve& warp : warps) {
    f.warp_instructions += warp.instructions();
    f.transactions += static_cast<uint64_t>(warp.between(0, warp.instructions()).lines);
  }
  f.warps = f.thread_blocks = warps.size();
  return cost_in_sm_cycles(
      {.features = f, .warps = warps, .bytes_beyond_l1 = 128, .resident_blocks = 1000},
      config::load_machine("tom", {}));
}

TEST(LaunchCost, WhatIsAskedOfTheMemoryCosts) {
  std::vector<WarpCurve> warps(64), asking(64);
  for (WarpCurve& warp : warps) warp.run(1000);
  for (WarpCurve& warp : asking)
    for (int i = 0; i < 1000; ++i) {
      warp.run(1);
      if (i < 500) warp.access(2);
    }
  const LaunchCost even = cost_of(warps), uneven = cost_of(asking);
  EXPECT_GT(uneven.whole, 2 * even.whole);
  EXPECT_NEAR(even.of_first(0.5), 0.5 * even.whole, 0.02 * even.whole);
  EXPECT_GT(uneven.of_first(0.5), 0.6 * uneven.whole) << "its first half asks for all";
  EXPECT_EQ(uneven.of_first(0), 0);
  EXPECT_DOUBLE_EQ(uneven.of_first(1), uneven.whole);
}

TEST(LaunchCost, AFewLongWarpsAtTheEndCostMoreThanTheyExecute) {
  std::vector<WarpCurve> warps(64), uneven(64);
  for (size_t i = 0; i < 64; ++i) {
    warps[i].run(1000);
    uneven[i].run(i == 0 ? 64'000 - 63 * 500 : 500);
  }
  const LaunchCost cost = cost_of(uneven);
  EXPECT_GT(cost.whole, cost_of(warps).whole);
  // The long one executes a half of all, nearly all of it by itself.
  EXPECT_LT(cost.of_first(0.5), 0.4 * cost.whole);
}

TEST(LaunchCost, OfALaunchWithoutTracesIsInTheSameUnit) {
  const config::MachineConfig machine = config::load_machine("tom", {});
  // Enough warps to hide that each by itself waits: what they cost is issue, nearly all of it.
  constexpr uint64_t kWarps = 4096;
  std::vector<WarpCurve> warps(64);
  for (WarpCurve& warp : warps) warp.run(1000);
  runtime::LaunchFeatures f;
  f.warps = kWarps;
  f.thread_blocks = 64;
  f.warp_instructions = kWarps * 1000;
  const LaunchCost known =
      cost_in_sm_cycles({.features = f, .warps = warps, .resident_blocks = 1000}, machine);
  const LaunchCost unknown =
      cost_in_sm_cycles({.features = f, .warps = {}, .resident_blocks = 1000}, machine);
  EXPECT_NEAR(unknown.whole / known.whole, 1, 0.15);
  EXPECT_DOUBLE_EQ(unknown.of_first(0.5), 0.5 * unknown.whole);
}

TEST(Samples, LinesThatFitIntoTheL1LeaveItOnce) {
  const runtime::Recording& kmeans = testing::workload("kmeans");
  // The first kernel transposes: each warp goes through 32 lines a word at a time.
  const config::MachineConfig fits = config::load_machine("h100", {}),
                              does_not = config::load_machine("tom", {});
  const double few = bytes_beyond_l1(kmeans, 0, fits, 1);
  EXPECT_GT(few, 0);
  EXPECT_LT(few, 32) << few;
  EXPECT_GT(bytes_beyond_l1(kmeans, 0, does_not, 2), 1.3 * few);
  EXPECT_FALSE(sample_warps(kmeans, 0).empty());
}

}  // namespace
}  // namespace nearwarp
