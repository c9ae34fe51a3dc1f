// Does a run that is measured up to a number of instructions end there, with the machine full, and
// at the same tick however it is computed?
#include <gtest/gtest.h>

#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::numbers;
using testing::simulate;

const std::vector<std::string> kEightSms = {"gpu.sms=8", "gpu.sms_with_ndp=8"};

/// A program of which only `measured` warp-instructions are simulated.
runtime::Recording part_of(const char* name, uint64_t measured) {
  runtime::VirtualDevice::Options options;
  options.max_thread_instructions = 2'000'000;
  runtime::VirtualDevice device(options);
  workloads::find(name)->run(device, workloads::Size::kSmall);
  runtime::Recording recording = device.take_recording(name);
  recording.measured_warp_instructions = measured;
  return recording;
}

TEST(MeasuredRuns, EndWhenEnoughHasBeenCommitted) {
  const uint64_t all = part_of("kmeans", 0).warp_instructions;
  const report::RunResult whole = simulate(part_of("kmeans", 0), "baseline", kEightSms);
  for (const uint64_t wanted : {all / 5, all / 2}) {
    const report::RunResult r = simulate(part_of("kmeans", wanted), "baseline", kEightSms);
    EXPECT_FALSE(r.partial);
    EXPECT_GE(r.warp_instructions, wanted);
    // Two schedulers of each SM may issue for the cycles between two looks.
    EXPECT_LT(r.warp_instructions, wanted + 256 * 8 * 2);
    EXPECT_LT(r.cycles, whole.cycles);
  }
  // A program with fewer instructions runs to its end.
  EXPECT_EQ(numbers(simulate(part_of("kmeans", 2 * all), "baseline", kEightSms)), numbers(whole));
}

TEST(MeasuredRuns, AreTheSameHoweverTheyAreComputed) {
  const runtime::Recording recording = part_of("kmeans", 20'000);
  for (const char* policy : {"baseline", "ndp-controlled-bmap", "tom"}) {
    SCOPED_TRACE(policy);
    const auto expected = numbers(simulate(recording, policy, kEightSms));
    for (const Tick window : {13, 997}) {
      SimOptions o;
      o.window_ticks = window;
      o.threads = 2;
      o.order_seed = 7;
      EXPECT_EQ(numbers(simulate(recording, policy, kEightSms, o)), expected) << window;
    }
  }
}

/// Launches begin late, so some looks fall into times in which nothing happens.
TEST(MeasuredRuns, MayEndWhereLittleHappens) {
  std::vector<std::string> keys = kEightSms;
  keys.push_back("gpu.kernel_launch_latency_cycles=3000");
  const uint64_t all = part_of("bfs-rmat", 0).warp_instructions;
  for (const uint64_t wanted : {all / 100, all / 10, all * 9 / 10}) {
    const runtime::Recording recording = part_of("bfs-rmat", wanted);
    const auto expected = numbers(simulate(recording, "baseline", keys));
    for (const Tick window : {1, 113, 2003}) {
      SimOptions o;
      o.window_ticks = window;
      EXPECT_EQ(numbers(simulate(recording, "baseline", keys, o)), expected)
          << wanted << " in windows of " << window;
    }
  }
}

TEST(MeasuredRuns, AreTheSameOnADevice) {
  const runtime::Recording recording = part_of("kmeans", 20'000);
  const testing::Configs configs({"baseline", "ndp-controlled-bmap"}, kEightSms);
  const std::vector<ReplayJob> systems = configs.systems(recording);
  kernels::EmulatedDevice device({});
  const std::vector<report::RunResult> results = testing::run_on(device, systems);
  for (size_t i = 0; i < systems.size(); ++i) {
    EXPECT_FALSE(results[i].partial);
    EXPECT_EQ(numbers(results[i]),
              numbers(replay_on_cpu(recording, configs.machine, configs.policies[i], {})));
  }
}

}  // namespace
}  // namespace nearwarp::sim
