// Are some thread blocks of a launch, simulated by themselves, right? Those that begin with the
// launch are exact and add up to it; results do not depend on what steps the others; times are
// those in the launch.
#include <gtest/gtest.h>

#include "host/timing/report/parts.h"
#include "host/timing/run/cpu_replay.h"
#include "host/timing/run/launch_part.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using runtime::BlockRange;
using runtime::LaunchPart;
using testing::counter;
using testing::numbers;

report::RunResult run_part(const runtime::Recording& r, const char* machine, const char* policy,
                           std::optional<LaunchPart> part, SimOptions options = {}) {
  options.part = part;
  return replay_on_cpu(r, config::load_machine(machine), config::load_policy(policy), options);
}

LaunchPart blocks(uint32_t begin, uint32_t first, uint32_t end, uint32_t launch = 0) {
  LaunchPart part{launch, launch, launch + 1};
  part.blocks = BlockRange{begin, first, end};
  part.warm = begin != 0;
  return part;
}

struct MachineUnderPolicy {
  const char *machine, *policy;
};
const MachineUnderPolicy kMachines[] = {{"tom", "baseline"},    {"tom", "ndp-controlled-bmap"},
                                        {"gtx480", "baseline"}, {"v100", "baseline"},
                                        {"coda", "coda"},       {"coda", "coda-steal"}};

TEST(BlockPart, PartsThatBeginWithTheLaunchAddUpToIt) {
  const runtime::Recording& r = testing::workload("backprop");
  const auto n = static_cast<uint32_t>(r.launches[0].blocks_recorded);
  ASSERT_GT(n, 40u);
  for (const MachineUnderPolicy& c : kMachines) {
    SCOPED_TRACE(std::string(c.machine) + " " + c.policy);
    const report::RunResult whole = run_part(r, c.machine, c.policy, LaunchPart{0, 0, 1});
    std::vector<report::RunResult> parts;
    for (const auto& [first, end] : {std::pair{0u, n / 3}, {n / 3, n / 2}, {n / 2, n}}) {
      parts.push_back(run_part(r, c.machine, c.policy, blocks(0, first, end)));
      EXPECT_TRUE(parts.back().launches->exact);
      EXPECT_FALSE(parts.back().partial);
      ASSERT_EQ(parts.back().kernels.size(), 1u);
      EXPECT_EQ(parts.back().kernels[0].cycles, parts.back().cycles);
    }
    const report::RunResult sum = report::joined(config::load_machine(c.machine), parts);
    EXPECT_EQ(sum.cycles, whole.cycles);
    EXPECT_EQ(sum.warp_instructions, whole.warp_instructions);
    EXPECT_EQ(sum.traffic.total_bytes(), whole.traffic.total_bytes());
    for (const report::Counter& k : sum.counters)
      EXPECT_EQ(k.value, counter(whole, k.name)) << k.name;
  }
}

TEST(BlockPart, WhateverStepsItFindsTheSame) {
  const runtime::Recording& r = testing::workload("backprop");
  const auto n = static_cast<uint32_t>(r.launches[0].blocks_recorded);
  for (const MachineUnderPolicy& c : kMachines) {
    SCOPED_TRACE(std::string(c.machine) + " " + c.policy);
    // The second and third have moments at one tick, and next to each other.
    for (const LaunchPart& part :
         {blocks(n / 4, n / 2, 3 * n / 4), blocks(n / 2, n / 2 + 1, n), blocks(4, 5, 7)}) {
      const auto expected = numbers(run_part(r, c.machine, c.policy, part));
      for (const Tick window : {3, 101}) {
        SimOptions o;
        o.window_ticks = window;
        o.order_seed = 5;
        if (window == 3) testing::use_general_steps(o);
        o.threads = window == 3 ? 1 : 2;
        EXPECT_EQ(numbers(run_part(r, c.machine, c.policy, part, o)), expected) << window;
      }
    }
  }
}

/// The launch's thread blocks from one to another, in a run that begins with it, and in one that
/// begins so many before.
void expect_near(const runtime::Recording& r, const MachineUnderPolicy& c, uint32_t before,
                 uint32_t first, uint32_t end, double most) {
  SCOPED_TRACE(std::string(c.machine) + " " + c.policy);
  const report::RunResult exact = run_part(r, c.machine, c.policy, blocks(0, first, end));
  const report::RunResult part =
      run_part(r, c.machine, c.policy, blocks(first - before, first, end));
  EXPECT_FALSE(part.launches->exact);
  const auto rate = [](const report::RunResult& x) {
    return static_cast<double>(x.launches->blocks->instructions) / static_cast<double>(x.cycles);
  };
  EXPECT_NEAR(rate(part) / rate(exact), 1, most);
}

TEST(BlockPart, TakesWhatItTakesInTheLaunch) {
  const runtime::Recording& r = testing::workload("vector-add");
  const auto n = static_cast<uint32_t>(r.launches[0].blocks_recorded);
  const uint32_t wave = 90;  // of blocks on gtx480
  ASSERT_GT(n, 17 * wave);
  expect_near(r, {"gtx480", "baseline"}, 8 * wave, 12 * wave, 16 * wave, 0.1);
}

}  // namespace
}  // namespace nearwarp::sim
