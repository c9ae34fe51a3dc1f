// Do all policies give on the emulated device what they give on the CPU, each on a machine that
// supports it? (tests/cuda/equality_test.cpp has the same list for a GPU.)
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/device_rig.h"
#include "tests/sim/setups.h"

namespace nearwarp::sim::device_setups_test {
namespace {

using testing::numbers;
using testing::workload;

bool has(const std::vector<testing::Setup>& setups, const std::string& machine,
         const std::string& policy) {
  return std::any_of(setups.begin(), setups.end(), [&](const testing::Setup& s) {
    return s.machine == machine && s.policy == policy;
  });
}

TEST(DeviceSetups, AreOfMachinesThatSupportThem) {
  const runtime::Recording& recording = workload("vector-add", 100'000);
  const auto setups = testing::device_setups(recording);
  for (const char* policy : {"baseline", "ponb", "tom", "tuned-shared", "ndp-ideal"})
    EXPECT_TRUE(has(setups, "tom", policy)) << policy;
  for (const char* policy : {"mpu", "mpu-pages", "llc-compute", "omni-compute", "coda"})
    EXPECT_FALSE(has(setups, "tom", policy)) << policy;
  for (const auto& s : setups)
    EXPECT_EQ(
        testing::refusal(recording, config::load_machine(s.machine), config::load_policy(s.policy)),
        "");
}

TEST(DeviceSetups, GiveWhatTheCpuGives) {
  const runtime::Recording& recording = workload("vector-add", 100'000);
  const auto setups = testing::device_setups(recording);
  const testing::SetupConfigs configs(setups);
  kernels::EmulatedDevice device({});
  AcceleratorBatchOptions teams;
  teams.way = DeviceWay::kTeams;
  const auto by_teams = testing::run_on(device, configs.systems(recording), teams);
  const auto in_batch = testing::run_as_batch(device, configs.systems(recording));
  ASSERT_EQ(by_teams.size(), setups.size());
  for (size_t i = 0; i < setups.size(); ++i) {
    SCOPED_TRACE(setups[i].policy + " on " + setups[i].machine);
    const auto expected =
        numbers(replay_on_cpu(recording, configs.machines[i], configs.policies[i], {}));
    EXPECT_EQ(numbers(by_teams[i]), expected);
    EXPECT_EQ(numbers(in_batch[i]), expected);
  }
}

}  // namespace
}  // namespace nearwarp::sim::device_setups_test
