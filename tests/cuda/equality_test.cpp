// Equal counters on the CPU and on a GPU: every workload under every policy, all in one batch.
#include "tests/cuda/gpu.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sim {
namespace {

using testing::numbers;

class GpuEquality : public testing::Gpu, public ::testing::WithParamInterface<std::string> {};

TEST_P(GpuEquality, CountersAreEqual) {
  const runtime::Recording& recording = testing::workload(GetParam(), 1'000'000);
  testing::Configs configs(config::policy_names(), {});
  // Those that want SMs in stacks are for another machine.
  std::erase_if(configs.policies,
                [](const config::PolicyConfig& policy) { return policy.mechanism == "coda"; });
  const auto device = open();
  const auto results = testing::run_on(*device, configs.systems(recording));
  for (size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(configs.policies[i].name);
    EXPECT_EQ(numbers(results[i]), numbers(testing::simulate(recording, configs.policies[i].name)));
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, GpuEquality, ::testing::ValuesIn(testing::workload_names()),
                         [](const auto& test) { return testing::test_name(test.param); });

}  // namespace
}  // namespace nearwarp::sim
