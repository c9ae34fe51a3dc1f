// Equal counters on the CPU and on a GPU: every workload under every policy, each on a machine that
// supports it, all in one batch.
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
  const auto results = testing::run_on(*device, configs.systems(recording));
  ASSERT_EQ(results.size(), setups.size());
  for (size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(setups[i].policy + " on " + setups[i].machine);
    EXPECT_EQ(numbers(results[i]),
              numbers(replay_on_cpu(recording, configs.machines[i], configs.policies[i], {})));
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, GpuEquality, ::testing::ValuesIn(testing::workload_names()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace nearwarp::sim
