// Are counters equal on the CPU and on a device? Every built-in workload and every policy is
// stepped by teams and in a batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

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

/// The policies under which a workload is stepped by teams, and those under which it is in a batch:
/// every other one, and the others.
std::vector<std::string> policies_of(const std::string& name, DeviceWay way) {
  const std::vector<std::string> names = testing::workload_names();
  const auto place = std::find(names.begin(), names.end(), name) - names.begin();
  std::vector<std::string> policies;
  for (size_t i = 0; i < kPolicies.size(); ++i)
    if ((static_cast<size_t>(place) + i) % 2 == (way == DeviceWay::kTeams ? 0 : 1))
      policies.push_back(kPolicies[i]);
  return policies;
}

TEST(DeviceDeterminismWays, EveryWorkloadAndEveryPolicyMeetsBoth) {
  std::map<std::string, std::set<DeviceWay>> met;
  for (const std::string& name : testing::workload_names()) {
    for (const DeviceWay way : {DeviceWay::kTeams, DeviceWay::kBatch}) {
      for (const std::string& policy : policies_of(name, way)) {
        met[name].insert(way);
        met[policy].insert(way);
      }
    }
  }
  for (const auto& [who, ways] : met) EXPECT_EQ(ways.size(), 2u) << who;
}

class DeviceDeterminism : public ::testing::TestWithParam<std::string> {};

TEST_P(DeviceDeterminism, CountersAreEqual) {
  const runtime::Recording& recording = testing::workload(GetParam(), 1'000'000);
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 12;
  emulation.seed = static_cast<uint32_t>(std::hash<std::string>{}(GetParam()));
  kernels::EmulatedDevice device(emulation);
  AcceleratorBatchOptions teams;
  teams.way = DeviceWay::kTeams;
  for (const DeviceWay way : {DeviceWay::kTeams, DeviceWay::kBatch}) {
    const std::vector<std::string> policies = policies_of(GetParam(), way);
    const testing::Configs configs(policies, {});
    const auto systems = configs.systems(recording);
    const auto found = way == DeviceWay::kTeams ? testing::run_on(device, systems, teams)
                                                : testing::run_as_batch(device, systems);
    for (size_t i = 0; i < policies.size(); ++i) {
      SCOPED_TRACE(policies[i]);
      EXPECT_EQ(numbers_and_times(found[i]),
                numbers_and_times(testing::simulate(recording, policies[i])));
    }
  }
  EXPECT_GT(device.launches_of_batches(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Workloads, DeviceDeterminism,
                         ::testing::ValuesIn(testing::workload_names()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace nearwarp::sim::device_determinism_test
