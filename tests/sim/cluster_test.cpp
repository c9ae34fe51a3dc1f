// Are clusters in windows of their own what all components are in windows of the shortest channel?
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kernels/batch_launcher.h"
#include "kernels/cpu_executor.h"
#include "kernels/deal.h"
#include "kernels/device_arena.h"
#include "kernels/emulated_device.h"
#include "tests/sim/cluster_rig.h"
#include "tests/support/general_steps.h"

namespace nearwarp::kernels {
namespace {

using testing::Chain;
using testing::ChainOptions;
using testing::kGeneralSteps;

constexpr Tick kLimit = 30'000;

struct Outcome {
  std::string text;
  uint64_t windows = 0, reads = 0;
};

Outcome run_on_cpu(const ChainOptions& chain_options, const ExecutorOptions& options = {},
                   Tick longest = 0) {
  Chain chain(chain_options);
  CpuExecutor executor(chain.components(), options);
  RunState run = chain.begin(kLimit, longest);
  while (run.control.stop == Stop::kNone || run.control.stop == Stop::kSlice)
    executor.run(run, 1000);
  EXPECT_EQ(run.control.stop, Stop::kLimit);
  return {chain.text(), run.control.windows, chain.reads_done()};
}

Outcome run_on_device(const ChainOptions& chain_options, const EmulationOptions& options,
                      uint32_t blocks, Tick longest = 0, uint32_t working_warps = 0) {
  const TeamShape shape{1, blocks, options.warps_per_block};
  Chain chain(chain_options);
  EmulatedDevice device(options);
  DeviceArena arena(device, chain.arena().base(), chain.arena().size_bytes(), chain.components());
  TeamLauncher launcher(device, 1);
  RunState run = chain.begin(kLimit, longest);
  while (run.control.stop == Stop::kNone || run.control.stop == Stop::kSlice) {
    std::vector<TeamSystem> systems{arena.team_system(run, shape, working_warps)};
    Slice slice;
    slice.windows = 1000;
    launcher.run(systems, shape, slice);
    run.control = systems[0].run.control;
  }
  arena.fetch();
  EXPECT_EQ(run.control.stop, Stop::kLimit);
  return {chain.text(), run.control.windows, chain.reads_done()};
}

/// Several at a time, in `cohorts`, each in windows of its own; launches of so many windows.
std::vector<Outcome> run_in_batch(std::span<const ChainOptions> all,
                                  const EmulationOptions& options, uint32_t cohorts,
                                  uint64_t windows, Tick longest = 0) {
  std::vector<std::unique_ptr<Chain>> chains;
  EmulatedDevice device(options);
  std::vector<std::unique_ptr<DeviceArena>> arenas;
  std::vector<BatchMember> members;
  for (const ChainOptions& o : all) {
    Chain& chain = *chains.emplace_back(std::make_unique<Chain>(o));
    arenas.push_back(std::make_unique<DeviceArena>(device, chain.arena().base(),
                                                   chain.arena().size_bytes(), chain.components()));
    const RunState run = chain.begin(kLimit, longest == 0 ? 0 : longest + chains.size());
    members.push_back({arenas.back()->on_device(run), chain.components()});
  }
  BatchLauncher launcher(device);
  const auto goes_on = [](const BatchMember& m) {
    return m.run.control.stop == Stop::kNone || m.run.control.stop == Stop::kSlice;
  };
  while (std::ranges::any_of(members, goes_on)) launcher.run(members, {windows}, cohorts);
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < chains.size(); ++i) {
    arenas[i]->fetch();
    EXPECT_EQ(members[i].run.control.stop, Stop::kLimit);
    outcomes.push_back(
        {chains[i]->text(), members[i].run.control.windows, chains[i]->reads_done()});
  }
  return outcomes;
}

/// All components by themselves, in windows of the shortest channel; nothing skipped or shuffled.
Outcome plain(ChainOptions options) {
  options.clusters = false;
  return run_on_cpu(options);
}

std::vector<ChainOptions> loads() {
  return {{},
          {.slots = 1},
          {.slots = 12, .writes_num = 0},
          {.pacing = TrafficPacing::kWindow},
          {.pacing = TrafficPacing::kOpen}};
}

TEST(Cluster, TheMachinesWindowIsThatOfChannelsBetweenClusters) {
  Chain chain({});
  EXPECT_EQ(chain.window(), Chain::kFar);
  std::vector<uint32_t> windows;
  for (const uint32_t node : {0u, 3u, 6u, 8u})
    windows.push_back(chain.components()[Chain::kVault + node].cluster_window);
  EXPECT_EQ(windows, (std::vector<uint32_t>{1, 2, 2, 0}));
  EXPECT_EQ(Chain({.clusters = false}).window(), 1u);
}

TEST(Cluster, WindowsAreChecked) {
  std::vector<Component> two(2);
  Channel c;
  c.consumer = 1;
  c.latency = 5;
  c.credit_latency = 3;
  const Channel* all[] = {&c};
  EXPECT_EQ(set_windows(two, all), 3u);
  two[0].cluster = 1;
  EXPECT_EQ(set_windows(two, all), 3u);  // only one end is inside
  two[1].cluster = 1;
  EXPECT_EQ(set_windows(two, all), 3u);  // nothing leaves it
  two[1].cluster = 2;
  EXPECT_EQ(set_windows(two, all), 3u);  // between two
  EXPECT_EQ(two[0].cluster_window, 3u);
  two[1].kind = ComponentKind::kFrontEnd;
  EXPECT_THROW(set_windows(two, all), std::invalid_argument);
  two[1].cluster = 0;
  c.latency = 0;
  EXPECT_THROW(set_windows(two, all), std::invalid_argument);
}

TEST(Cluster, IsWhatShortWindowsAreAndMeetsLessOften) {
  for (const ChainOptions& load : loads()) {
    const Outcome reference = plain(load), clustered = run_on_cpu(load);
    EXPECT_GT(reference.reads, 100u);
    EXPECT_EQ(clustered.text, reference.text);
    EXPECT_LE(clustered.windows, kLimit / Chain::kFar + 1);
    EXPECT_LT(5 * clustered.windows, reference.windows);
  }
}

TEST(Cluster, AnyWindowsOrdersThreadsAndCode) {
  for (const ChainOptions& load : loads()) {
    const std::string reference = plain(load).text;
    for (const Tick longest : {1u, 2u, 7u, 13u, 35u})
      EXPECT_EQ(run_on_cpu(load, {}, longest).text, reference) << longest;
    for (const uint32_t seed : {1u, 2u, 3u}) {
      EXPECT_EQ(run_on_cpu(load, {.order_seed = seed}).text, reference) << seed;
    }
    EXPECT_EQ(run_on_cpu(load, {.family = kGeneralSteps}).text, reference);
    for (const unsigned threads : {2u, 3u})
      EXPECT_EQ(run_on_cpu(load, {.threads = threads, .order_seed = 5}).text, reference) << threads;
  }
}

TEST(Cluster, IsTheSameOnATeam) {
  for (const ChainOptions& load : loads()) {
    const Outcome reference = plain(load), clustered = run_on_cpu(load);
    for (const uint32_t seed : {0u, 1u, 2u}) {
      EmulationOptions options;
      options.seed = seed;
      for (const uint32_t blocks : {1u, 2u}) {
        const Outcome team = run_on_device(load, options, blocks);
        EXPECT_EQ(team.text, reference.text) << seed << " " << blocks;
        EXPECT_EQ(team.windows, clustered.windows) << seed << " " << blocks;
      }
    }
    EmulationOptions options;
    options.shared_bytes = 2 << 10;
    EXPECT_EQ(run_on_device(load, options, 1, 11).text, reference.text);
    EXPECT_EQ(run_on_device(load, options, 1, 0, 1).text, reference.text);
    options.threads = 2;
    EXPECT_EQ(run_on_device(load, options, 2).text, reference.text);
  }
}

TEST(Cluster, IsTheSameInABatch) {
  const std::vector<ChainOptions> all = loads();
  for (const uint32_t seed : {0u, 1u, 2u, 3u}) {
    EmulationOptions options;
    options.seed = seed;
    for (const uint32_t cohorts : {1u, 2u, 5u}) {
      const auto batch = run_in_batch(all, options, cohorts, seed % 2 == 0 ? 1000 : 33);
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(batch[i].text, plain(all[i]).text) << seed << " " << cohorts << " " << i;
        EXPECT_EQ(batch[i].windows, run_on_cpu(all[i]).windows) << seed << " " << cohorts;
      }
    }
  }
  const auto odd = run_in_batch(all, {}, 2, 100, 5);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(odd[i].text, plain(all[i]).text) << i;
}

TEST(Cluster, BelongsToOneWarp) {
  Chain chain({});
  for (const uint32_t warps : {1u, 2u, 5u, 40u}) {
    const Deal deal = deal_components(chain.components(), warps);
    ASSERT_EQ(deal.order.size(), chain.components().size());
    std::map<uint16_t, std::set<uint32_t>> warps_of;
    for (uint32_t w = 0; w < warps; ++w) {
      uint32_t groups = 0;
      for (uint32_t at = deal.begin[w]; at < deal.begin[w + 1]; at = deal.group_end[at]) {
        ASSERT_GT(deal.group_end[at], at);
        ASSERT_LE(deal.group_end[at], deal.begin[w + 1]);
        const uint16_t cluster = chain.components()[deal.order[at]].cluster;
        EXPECT_TRUE(cluster != 0 || groups == 0);
        for (uint32_t i = at; i < deal.group_end[at]; ++i)
          EXPECT_EQ(chain.components()[deal.order[i]].cluster, cluster);
        if (cluster != 0) {
          EXPECT_TRUE(warps_of[cluster].insert(w).second);
        }
        groups += 1;
      }
    }
    EXPECT_EQ(warps_of.size(), 3u);
    for (const auto& [cluster, all] : warps_of) EXPECT_EQ(all.size(), 1u) << cluster;
  }
}

}  // namespace
}  // namespace nearwarp::kernels
