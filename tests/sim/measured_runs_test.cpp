// Does a run that is measured up to a number of instructions end there, with the machine full, and
// at the same tick however it is computed?
#include <gtest/gtest.h>

#include "tests/sim/device_rig.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::numbers;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kFewSms = {"gpu.sms=8", "gpu.sms_with_ndp=8"};

/// kmeans, of which `measured` warp-instructions are looked at.
runtime::Recording part_of_kmeans(uint64_t measured) {
  runtime::Recording recording = workload("kmeans", 2'000'000);
  recording.measured_warp_instructions = measured;
  return recording;
}

TEST(MeasuredRuns, EndWhenEnoughHasBeenCommitted) {
  const uint64_t all = part_of_kmeans(0).warp_instructions;
  const report::RunResult whole = simulate(part_of_kmeans(0), "baseline", kFewSms);
  for (const uint64_t wanted : {all / 5, all / 2}) {
    const report::RunResult r = simulate(part_of_kmeans(wanted), "baseline", kFewSms);
    EXPECT_FALSE(r.partial);
    EXPECT_GE(r.warp_instructions, wanted);
    // Two schedulers of each SM, for the cycles between two looks.
    EXPECT_LT(r.warp_instructions, wanted + 256 * 8 * 2);
    EXPECT_LT(r.cycles, whole.cycles);
  }
  // More than there is: it runs to its end.
  EXPECT_EQ(numbers(simulate(part_of_kmeans(2 * all), "baseline", kFewSms)), numbers(whole));
}

TEST(MeasuredRuns, AreTheSameHoweverTheyAreComputed) {
  const runtime::Recording recording = part_of_kmeans(20'000);
  for (const char* policy : {"baseline", "ndp-controlled-bmap", "tom"}) {
    SCOPED_TRACE(policy);
    const auto expected = numbers(simulate(recording, policy, kFewSms));
    for (const Tick window : {13, 997}) {
      SimOptions o;
      o.window_ticks = window;
      o.threads = 2;
      o.order_seed = 7;
      EXPECT_EQ(numbers(simulate(recording, policy, kFewSms, o)), expected) << window;
    }
  }
}

TEST(MeasuredRuns, AreTheSameOnADevice) {
  const runtime::Recording recording = part_of_kmeans(20'000);
  const testing::Configs configs({"baseline", "ndp-controlled-bmap"}, kFewSms);
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
