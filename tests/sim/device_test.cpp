// Do systems on a device give what the CPU gives, alone and in a batch, wherever launches end, and
// do batches bear little memory, failures and interruptions?
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

#include "kernels/batch_layout.h"
#include "kernels/deal.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sim::device_test {
namespace {

using kernels::EmulatedDevice;
using kernels::EmulationOptions;
using testing::Configs;
using testing::KeepingObserver;
using testing::numbers;
using testing::run_on;
using testing::simulate;
using testing::workload;

constexpr DeviceWay kWays[] = {DeviceWay::kTeams, DeviceWay::kBatch};

const std::vector<std::string> kFew = {"gpu.sms=4", "gpu.sms_with_ndp=4", "stack.vaults=4",
                                       "l2.slices=4"};
const std::vector<std::string> kThree = {"baseline", "ndp-uncontrolled-bmap", "tom"};

TEST(Device, ABatchGivesWhatTheCpuGives) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  const Configs configs(kThree, kFew);
  EmulatedDevice device({});
  const auto results = run_on(device, configs.systems(recording));
  for (size_t i = 0; i < kThree.size(); ++i)
    EXPECT_EQ(numbers(results[i]), numbers(simulate(recording, kThree[i], kFew))) << kThree[i];
  EXPECT_EQ(device.allocations(), 0u);
}

TEST(Device, TheWayOfTheLaunchesDoesNotMatter) {
  const runtime::Recording& recording = workload("bfs-rmat", 100'000);
  const Configs configs(kThree, kFew);
  const std::vector<ReplayJob> systems = configs.systems(recording);
  std::vector<std::vector<std::pair<std::string, uint64_t>>> expected;
  for (const std::string& policy : kThree)
    expected.push_back(numbers(simulate(recording, policy, kFew)));
  struct Way {
    const char* name;
    EmulationOptions emulation;
    kernels::Slice slice;
    Tick window_ticks;
    DeviceWay way = DeviceWay::kTeams;
  };
  const std::vector<Way> ways = {
      {"in order, one warp", {.warps_per_block = 1, .largest_team = 1, .seed = 0}, {}, 0},
      {"a window at a time", {.seed = 2}, {1, ~uint64_t{0}}, 0},
      {"one team for three systems",
       {.warps_per_block = 1, .largest_team = 1, .blocks_at_once = 1, .seed = 3},
       {},
       0},
      {"small teams", {.largest_team = 1, .blocks_at_once = 1, .seed = 3}, {}, 0},
      {"more warps than components", {.warps_per_block = 16, .largest_team = 8}, {7, 0}, 0},
      {"time is up in the midst", {.seed = 5, .windows_at_once = 10}, {1000, 1}, 0},
      {"no shared memory", {.shared_bytes = 0, .seed = 8}, {}, 0},
      {"a little shared memory", {.shared_bytes = 1000, .seed = 9}, {50, ~uint64_t{0}}, 0},
      {"shared memory for all", {.shared_bytes = 1 << 20, .seed = 10}, {50, ~uint64_t{0}}, 0},
      {"odd windows", {.warps_per_block = 3, .seed = 6}, {100, ~uint64_t{0}}, 311},
      {"a batch in order", {.seed = 0}, {}, 0, DeviceWay::kBatch},
      {"a batch of one warp",
       {.warps_per_block = 1, .blocks_at_once = 1},
       {},
       0,
       DeviceWay::kBatch},
      {"a batch, a window at a time", {.seed = 2}, {1, ~uint64_t{0}}, 0, DeviceWay::kBatch},
      {"a batch, odd windows", {.seed = 3}, {100, ~uint64_t{0}}, 311, DeviceWay::kBatch},
      {"a batch whose time is up",
       {.seed = 5, .windows_at_once = 500},
       {1000, 1},
       0,
       DeviceWay::kBatch},
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    EmulatedDevice device(way.emulation);
    AcceleratorBatchOptions options;
    options.slice = way.slice;
    options.window_ticks = way.window_ticks;
    options.way = way.way;
    const auto results = run_on(device, systems, options);
    for (size_t i = 0; i < systems.size(); ++i) EXPECT_EQ(numbers(results[i]), expected[i]);
    EXPECT_EQ(device.launches_of_batches(), way.way == DeviceWay::kBatch ? device.launches() : 0);
  }
}

TEST(Device, SystemsTakeTurnsWhereMemoryIsShort) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  const std::vector<std::string> policies(7, "baseline");
  const Configs configs(policies, kFew);
  const auto expected = numbers(simulate(recording, "baseline", kFew));
  const std::vector<ReplayJob> systems = configs.systems(recording);
  EmulatedDevice large({}), larger({});
  run_on(large, std::span(systems).first(1));
  run_on(larger, std::span(systems).first(2));
  const uint64_t one = larger.most_used_bytes() - large.most_used_bytes();
  EmulationOptions emulation;
  emulation.memory_bytes = larger.most_used_bytes() + one / 2;
  EmulatedDevice device(emulation);
  std::vector<std::string> said;
  AcceleratorBatchOptions options;
  options.say = [&](const std::string& text) { said.push_back(text); };
  for (const report::RunResult& r : run_on(device, systems, options))
    EXPECT_EQ(numbers(r), expected);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("holds 2 systems at a time"), std::string::npos) << said[0];
}

TEST(Device, TooLittleMemoryForOneIsAnErrorOfThatSystem) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  const Configs configs({"baseline", "tom"}, kFew);
  EmulationOptions emulation;
  emulation.memory_bytes = 1000;
  EmulatedDevice device(emulation);
  KeepingObserver observer(2);
  AcceleratorBatch(device, {}).run(configs.systems(recording), observer);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NE(observer.error(i).find("`backend` cpu"), std::string::npos) << observer.error(i);
  }
}

TEST(Device, AFailureIsItsOwn) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  Configs configs({"baseline", "baseline", "baseline"}, kFew);
  config::MachineConfig stuck = configs.machine;
  stuck.run.no_progress_cycles = 1;
  std::vector<ReplayJob> systems = configs.systems(recording);
  systems[1].machine = &stuck;
  for (const DeviceWay way : kWays) {
    EmulatedDevice device({});
    KeepingObserver observer(3);
    AcceleratorBatchOptions options;
    options.way = way;
    options.slice = {3, ~uint64_t{0}};
    AcceleratorBatch(device, options).run(systems, observer);
    EXPECT_EQ(observer.error(0), "");
    EXPECT_EQ(observer.error(2), "");
    EXPECT_NE(observer.error(1).find("no instruction was committed"), std::string::npos);
    EXPECT_NE(observer.error(1).find("raise run.no_progress_cycles"), std::string::npos);
    EXPECT_EQ(numbers(*observer.outcomes[2].result), numbers(*observer.outcomes[0].result));
  }
}

TEST(Device, LimitsGiveTheSamePartialResults) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  std::vector<std::string> limited = kFew;
  limited.push_back("run.max_cycles=4321");
  const Configs configs(kThree, limited);
  for (const DeviceWay way : kWays) {
    EmulatedDevice device({});
    AcceleratorBatchOptions options;
    options.way = way;
    const auto results = run_on(device, configs.systems(recording), options);
    for (size_t i = 0; i < kThree.size(); ++i) {
      EXPECT_TRUE(results[i].partial);
      EXPECT_EQ(results[i].cycles, 4321u);
      EXPECT_EQ(numbers(results[i]), numbers(simulate(recording, kThree[i], limited)));
    }
  }
}

TEST(Device, AnInterruptedBatchGivesWhatThereIs) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  const Configs configs(kThree, kFew);
  for (const DeviceWay way : kWays) {
    EmulatedDevice device({});
    KeepingObserver observer(3, 4);
    AcceleratorBatchOptions options;
    options.way = way;
    options.slice = {20, ~uint64_t{0}};
    AcceleratorBatch(device, options).run(configs.systems(recording), observer);
    ASSERT_EQ(observer.order.size(), 3u);
    for (const BatchOutcome& outcome : observer.outcomes) {
      EXPECT_TRUE(outcome.stopped);
      ASSERT_TRUE(outcome.result.has_value());
      EXPECT_TRUE(outcome.result->partial);
      EXPECT_LT(outcome.result->warp_instructions, recording.warp_instructions);
    }
    EXPECT_TRUE(std::is_sorted(observer.heard.begin(), observer.heard.end()));
    EXPECT_GT(observer.heard.back(), 0u);
    EXPECT_EQ(device.allocations(), 0u);
  }
}

TEST(Device, RecordingsFollowEachOther) {
  const Configs configs({"baseline"}, kFew);
  std::vector<ReplayJob> systems;
  const std::vector<std::string> names = {"kmeans", "vector-add", "kmeans"};
  for (const std::string& name : names)
    systems.push_back({&workload(name, 50'000), &configs.machine, &configs.policies[0]});
  EmulatedDevice device({});
  const auto results = run_on(device, systems);
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(numbers(results[i]), numbers(simulate(workload(names[i], 50'000), "baseline", kFew)));
}

TEST(Device, AFaultNamesTheComponentAndTheTickIfAsked) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  const Configs configs({"baseline"}, kFew);
  Replay layout({&recording, &configs.machine, &configs.policies[0]}, 0);
  EmulationOptions emulation;
  emulation.fault_at = 1000;
  // The fault is in the last of the components that the one warp steps.
  const kernels::Deal deal = kernels::deal_components(layout.system().components(), 1);
  emulation.fault_in = deal.order.back();
  const auto failure = [&](bool locate) -> std::string {
    EmulatedDevice device(emulation);
    AcceleratorBatchOptions options;
    options.locate_fault = locate;
    try {
      run_on(device, configs.systems(recording), options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string plain = failure(false);
  EXPECT_NE(plain.find("the emulated device is broken"), std::string::npos) << plain;
  EXPECT_NE(plain.find("`locate_fault`"), std::string::npos) << plain;
  const std::string located = failure(true);
  const std::string name = layout.system().nodes[emulation.fault_in].name;
  EXPECT_NE(located.find("in " + name + " of kmeans under baseline"), std::string::npos) << located;
  const size_t at = located.find("from tick ");
  ASSERT_NE(at, std::string::npos) << located;
  const uint64_t tick = std::stoull(located.substr(at + 10));
  EXPECT_GE(tick, emulation.fault_at);
  EXPECT_LT(tick, emulation.fault_at + 100'000);
}

TEST(Device, OneWarpAtATimeGivesTheSame) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  const Configs configs(kThree, kFew);
  EmulatedDevice device({});
  AcceleratorBatchOptions options;
  options.locate_fault = true;
  const auto results = run_on(device, configs.systems(recording), options);
  for (size_t i = 0; i < kThree.size(); ++i)
    EXPECT_EQ(numbers(results[i]), numbers(simulate(recording, kThree[i], kFew)));
}

TEST(Device, HoldsAsManySystemsAsAreLaidOut) {
  const runtime::Recording& recording = workload("kmeans", 50'000);
  const Configs configs(std::vector<std::string>(40, "baseline"), kFew);
  const auto expected = numbers(simulate(recording, "baseline", kFew));
  EmulationOptions emulation;
  emulation.blocks_at_once = 2;
  EmulatedDevice device(emulation);
  AcceleratorBatchOptions options;
  options.slice = {20, ~uint64_t{0}};
  for (const report::RunResult& r : run_on(device, configs.systems(recording), options))
    EXPECT_EQ(numbers(r), expected);
  // Far more than the two that are stepped at a time.
  Replay one({&recording, &configs.machine, &configs.policies[0]}, 0);
  EXPECT_GT(device.most_used_bytes(), 8 * one.system().arena.size_bytes());
}

TEST(Device, NothingToDo) {
  runtime::VirtualDevice program;
  const runtime::Recording nothing = program.take_recording("nothing");
  const Configs configs({"baseline"}, kFew);
  EmulatedDevice device({});
  const auto results = run_on(device, configs.systems(nothing));
  EXPECT_EQ(results[0].cycles, 0u);
  EXPECT_FALSE(results[0].partial);
  KeepingObserver observer(0);
  AcceleratorBatch(device, {}).run({}, observer);
  EXPECT_TRUE(observer.order.empty());
}

TEST(DeviceWay, ManySystemsAreABatch) {
  const runtime::Recording& recording = workload("kmeans", 20'000);
  EmulationOptions emulation;
  emulation.blocks_at_once = 8;  // as many multiprocessors
  const auto launches = [&](size_t systems, const AcceleratorBatchOptions& options) {
    EmulatedDevice device(emulation);
    run_on(device, Configs(std::vector<std::string>(systems, "baseline"), kFew).systems(recording),
           options);
    return std::pair(device.launches_of_batches() != 0, device.launches() != 0);
  };
  AcceleratorBatchOptions large_teams, small_teams, locating;
  large_teams.blocks_per_team = 2;
  small_teams.team_warps = 1;
  locating.locate_fault = true;
  EXPECT_EQ(launches(4, {}), std::pair(false, true));
  EXPECT_EQ(launches(5, {}), std::pair(true, true));
  // Who asks for teams gets teams.
  for (const AcceleratorBatchOptions& options : {large_teams, small_teams, locating})
    EXPECT_EQ(launches(5, options), std::pair(false, true));
}

TEST(BatchLayout, EveryComponentHasASeatAmongItsKind) {
  const Configs configs({"baseline", "tom", "baseline"}, kFew);
  const config::MachineConfig mpu = config::load_machine("mpu", {});
  std::vector<ReplayJob> jobs = configs.systems(workload("vector-add", 20'000));
  jobs[2].machine = &mpu;  // which has clusters
  std::vector<std::unique_ptr<Replay>> runs;
  std::vector<std::span<const kernels::Component>> systems;
  for (const ReplayJob& job : jobs) {
    runs.push_back(std::make_unique<Replay>(job, 0));
    systems.push_back(runs.back()->system().components());
  }
  for (const uint32_t cohorts : {1u, 2u, 3u}) {
    const kernels::BatchLayout layout = kernels::lay_out_batch(systems, cohorts);
    ASSERT_EQ(layout.cohorts.size(), cohorts);
    std::set<std::pair<uint32_t, uint32_t>> seated;
    std::map<uint32_t, std::set<std::pair<uint32_t, uint16_t>>> in_domain;
    uint32_t end = 0, systems_seen = 0;
    for (const kernels::Cohort& cohort : layout.cohorts) {
      EXPECT_EQ(cohort.first_system, systems_seen);
      systems_seen += cohort.systems;
      for (uint32_t kind = 0; kind < kernels::ProductFamily::kCount; ++kind) {
        EXPECT_EQ(cohort.seat_of_kind[kind], end);
        end = cohort.seat_of_kind[kind + 1];
        EXPECT_EQ(end % kernels::kRunOfSeats, 0u);
        for (uint32_t seat = cohort.seat_of_kind[kind]; seat < end; ++seat) {
          if (layout.domain[seat] == kernels::kNoDomain) continue;
          const uint32_t system = layout.system[seat];
          EXPECT_LT(system - cohort.first_system, cohort.systems);
          const kernels::Component& c = systems[system][layout.component[seat]];
          EXPECT_EQ(static_cast<uint32_t>(c.kind), kind);
          EXPECT_TRUE(seated.emplace(system, layout.component[seat]).second);
          in_domain[layout.domain[seat]].emplace(system, c.cluster);
          EXPECT_EQ(layout.domains[layout.domain[seat]].length, c.cluster_window);
        }
      }
    }
    EXPECT_EQ(end, layout.system.size());
    EXPECT_EQ(systems_seen, systems.size());
    EXPECT_EQ(seated.size(), systems[0].size() + systems[1].size() + systems[2].size());
    EXPECT_GT(layout.more[2].domains, 1u);
    for (const auto& [domain, of] : in_domain) EXPECT_EQ(of.size(), 1u) << domain;
  }
  EXPECT_THROW(kernels::lay_out_batch(systems, 4), std::logic_error);
}

TEST(TeamShape, LargeTeamsForFewSystemsSmallOnesForMany) {
  kernels::DeviceInfo device;
  device.warps_per_block = 16;
  device.blocks_at_once = 132;
  device.largest_team = 8;
  const auto shape = [&](uint32_t systems, uint32_t components) {
    const kernels::TeamShape s = team_shape(device, systems, components);
    return std::array{s.teams, s.blocks, s.warps};
  };
  using Shape = std::array<uint32_t, 3>;
  EXPECT_EQ(shape(1, 400), (Shape{1, 8, 16}));
  EXPECT_EQ(shape(1, 100), (Shape{1, 8, 16}));  // 64 warps are too few for 100 components
  EXPECT_EQ(shape(1, 60), (Shape{1, 4, 16}));
  EXPECT_EQ(shape(16, 400), (Shape{16, 8, 16}));
  EXPECT_EQ(shape(17, 400), (Shape{17, 4, 16}));
  EXPECT_EQ(shape(100, 400), (Shape{100, 1, 16}));
  EXPECT_EQ(shape(132, 400), (Shape{132, 1, 16}));
  EXPECT_EQ(shape(133, 400), (Shape{133, 1, 8}));  // two teams on a multiprocessor
  EXPECT_EQ(shape(500, 400), (Shape{500, 1, 4}));
  EXPECT_EQ(shape(5000, 400), (Shape{2112, 1, 1}));  // the others wait
}

}  // namespace
}  // namespace nearwarp::sim::device_test
