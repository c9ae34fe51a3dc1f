// Is offloading without overhead a bound for offloading with it?
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::simulate;
using testing::workload;

/// Blocks and warps meet in another order on every machine; what that does to run times is below
/// this.
constexpr double kScheduling = 1.01, kOrderAlone = 1.03;

/// The workloads of TOM, Table 2.
class Ideal : public ::testing::TestWithParam<const char*> {};

TEST_P(Ideal, IsNotSlowerThanControlledOffloading) {
  const runtime::Recording& recording = workload(GetParam());
  const report::RunResult all = simulate(recording, "ndp-ideal");
  const report::RunResult even = simulate(recording, "ndp-ideal", {"offload.even=true"});
  const report::RunResult controlled = simulate(recording, "ndp-controlled-bmap");
  for (const report::RunResult* r : {&all, &even}) {
    EXPECT_EQ(r->warp_instructions, recording.warp_instructions);
    EXPECT_EQ(counter(*r, "offload.request_bytes") + counter(*r, "offload.ack_bytes"), 0u);
    EXPECT_EQ(counter(*r, "offload.remote_lines"), 0u);
    EXPECT_EQ(counter(*r, "offload.redundant"), 0u);
    EXPECT_LE(counter(*r, "offload.peak_pending"), 48u);
  }
  // If neither offloads anything (backprop), only that order differs.
  const bool offloads =
      counter(all, "offload.offloaded") + counter(controlled, "offload.offloaded") != 0;
  EXPECT_LE(static_cast<double>(std::min(all.cycles, even.cycles)),
            (offloads ? kScheduling : kOrderAlone) * static_cast<double>(controlled.cycles));
}

INSTANTIATE_TEST_SUITE_P(Workloads, Ideal,
                         ::testing::Values("scalarprod", "ray", "backprop", "cfd", "heartwall",
                                           "reduction", "fwt", "libor", "kmeans", "bfs-rmat"),
                         [](const auto& test) { return testing::test_name(test.param); });

TEST(IdealOffloading, EvenlyNoStackSmGetsMoreWarpsThanAMainSmHas) {
  // Blocks have one warp, and each SM gets one block.
  const report::RunResult r = simulate(workload("libor"), "ndp-ideal", {"offload.even=true"});
  EXPECT_GT(counter(r, "offload.offloaded"), 0u);
  EXPECT_GT(counter(r, "offload.refused_pending"), 0u);
  EXPECT_LT(counter(r, "offload.peak_pending"), 8u);
}

TEST(IdealOffloading, ThreadBlocksAreSpreadOverTheStacks) {
  // Every warp begins with the same line.
  const report::RunResult r = simulate(workload("libor"), "ndp-ideal");
  const uint64_t slots = 48;
  EXPECT_LE(counter(r, "offload.peak_pending"), slots);
  EXPECT_EQ(counter(r, "offload.refused_pending"), 0u);
}

TEST(IdealOffloading, WithoutControlWarpsWaitForRoom) {
  const runtime::Recording& recording = workload("fwt");
  for (const char* mapping : {"local", "bmap"}) {
    SCOPED_TRACE(mapping);
    const report::RunResult r =
        simulate(recording, "ndp-ideal",
                 {"offload.dynamic_control=false", std::string("policy.mapping=") + mapping});
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
    EXPECT_EQ(counter(r, "offload.refused_pending"), 0u);
    EXPECT_EQ(counter(r, "offload.offloaded"),
              counter(r, "offload.instances") - counter(r, "offload.refused_condition"));
    EXPECT_EQ(counter(r, "offload.remote_lines") == 0, std::string(mapping) == "local");
  }
}

TEST(IdealOffloading, DataInEveryStackAndTheCostsOfOffloading) {
  const report::RunResult r = simulate(workload("fwt"), "ndp-ideal", {"offload.overhead=true"});
  EXPECT_GT(counter(r, "offload.request_bytes"), 0u);
  EXPECT_GT(counter(r, "offload.dirty_lines"), 0u);
  EXPECT_EQ(counter(r, "offload.remote_lines"), 0u);
}

}  // namespace
}  // namespace nearwarp::sim
