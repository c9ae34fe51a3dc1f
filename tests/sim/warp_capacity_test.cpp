// Do stack SMs of twice and four times TOM's warps (its sensitivity study on warp capacity) work in
// whole machines?
#include <gtest/gtest.h>

#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
using testing::simulate;
using testing::workload;

std::vector<std::string> warps(uint32_t n) { return {"stack.sm_warps=" + std::to_string(n)}; }

TEST(WarpCapacity, EndsAndIsDeterministic) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  for (const uint32_t n : {96u, 192u}) {
    for (const char* policy : {"ndp-uncontrolled-bmap", "ndp-controlled-bmap"}) {
      SCOPED_TRACE(std::to_string(n) + " " + policy);
      const report::RunResult plain = simulate(recording, policy, warps(n));  // checks conservation
      EXPECT_FALSE(plain.partial);
      EXPECT_EQ(plain.warp_instructions, recording.warp_instructions);
      EXPECT_GT(plain.offloaded_thread_instructions, 0u);
      SimOptions windows;
      windows.window_ticks = 997;
      windows.order_seed = 5;
      testing::use_general_steps(windows);
      EXPECT_EQ(numbers(simulate(recording, policy, warps(n), windows)), numbers(plain));
      SimOptions threads;
      threads.threads = 3;
      threads.order_seed = 77;
      testing::use_general_steps(threads);
      EXPECT_EQ(numbers(simulate(recording, policy, warps(n), threads)), numbers(plain));
    }
  }
}

TEST(WarpCapacity, OneStackSmHoldsMoreRequests) {
  // Uncontrolled offloading asks for whatever there is: the capacity is the limit.
  const runtime::Recording& recording = workload("kmeans");
  for (const uint32_t n : {48u, 64u, 65u, 96u}) {
    const report::RunResult r = simulate(recording, "ndp-uncontrolled-bmap", warps(n));
    EXPECT_EQ(counter(r, "offload.peak_pending"), n);
  }
  // 192 are more than the program ever asks for at once, 96 are not.
  const report::RunResult most = simulate(recording, "ndp-uncontrolled-bmap", warps(192));
  EXPECT_GT(counter(most, "offload.peak_pending"), 96u);
  EXPECT_LT(counter(most, "offload.peak_pending"), 192u);
  EXPECT_EQ(most.warp_instructions, recording.warp_instructions);
}

TEST(WarpCapacity, MainSmsDoNotNoticeWithoutOffloading) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  EXPECT_EQ(numbers(simulate(recording, "baseline", warps(256))),
            numbers(simulate(recording, "baseline", warps(48))));
}

}  // namespace
}  // namespace nearwarp::sim
