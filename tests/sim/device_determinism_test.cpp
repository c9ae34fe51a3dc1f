// Equal counters on the CPU and on a device, over all built-in workloads and policies.
#include <gtest/gtest.h>

#include "tests/sim/device_rig.h"

namespace nearwarp::sim::device_determinism_test {
namespace {

using testing::numbers_and_times;

const std::vector<std::string> kPolicies = {"baseline",
                                            "ndp-ideal",
                                            "ndp-uncontrolled-bmap",
                                            "ndp-uncontrolled-tmap",
                                            "ndp-controlled-bmap",
                                            "ndp-uncontrolled-oracle",
                                            "tom",
                                            "tom-oracle"};

class DeviceDeterminism : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceDeterminism, CountersAreEqual) {
  const runtime::Recording& recording = testing::workload(GetParam(), 1'000'000);
  const testing::Configs configs(kPolicies, {});
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 12;
  emulation.seed = static_cast<uint32_t>(std::hash<std::string>{}(GetParam()));
  kernels::EmulatedDevice device(emulation);
  AcceleratorBatchOptions teams;
  teams.way = DeviceWay::kTeams;
  const auto by_teams = testing::run_on(device, configs.systems(recording), teams);
  const auto in_batch = testing::run_as_batch(device, configs.systems(recording));
  EXPECT_GT(device.launches_of_batches(), 0u);
  for (size_t i = 0; i < kPolicies.size(); ++i) {
    SCOPED_TRACE(kPolicies[i]);
    const auto expected = numbers_and_times(testing::simulate(recording, kPolicies[i]));
    EXPECT_EQ(numbers_and_times(by_teams[i]), expected);
    EXPECT_EQ(numbers_and_times(in_batch[i]), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, DeviceDeterminism,
                         ::testing::ValuesIn(testing::workload_names()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace nearwarp::sim::device_determinism_test
