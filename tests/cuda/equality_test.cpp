// Are counters equal on the CPU and on a GPU? Every workload runs under every policy, each on a
// machine that supports it, all in one batch.
#include "tests/cuda/gpu.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/setups.h"

namespace nearwarp::sim {
namespace {

using testing::numbers;

class GpuEquality : public testing::Gpu, public ::testing::WithParamInterface<std::string> {};

TEST_P(GpuEquality, CountersAreEqual) {
  const runtime::Recording& recording = testing::workload(GetParam(), 1'000'000);
  const std::vector<testing::Setup> setups = testing::device_setups(recording);
  const testing::SetupConfigs configs(setups);
  const auto device = open();
  AcceleratorBatchOptions teams;
  teams.way = DeviceWay::kTeams;
  const auto by_teams = testing::run_on(*device, configs.systems(recording), teams);
  const auto in_batch = testing::run_as_batch(*device, configs.systems(recording));
  ASSERT_EQ(by_teams.size(), setups.size());
  for (size_t i = 0; i < setups.size(); ++i) {
    SCOPED_TRACE(setups[i].policy + " on " + setups[i].machine);
    const auto expected =
        numbers(replay_on_cpu(recording, configs.machines[i], configs.policies[i], {}));
    EXPECT_EQ(numbers(by_teams[i]), expected);
    EXPECT_EQ(numbers(in_batch[i]), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, GpuEquality, ::testing::ValuesIn(testing::workload_names()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace nearwarp::sim
