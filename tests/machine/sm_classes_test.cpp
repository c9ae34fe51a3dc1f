// Do SMs in stacks that differ from the main ones differ in what their keys say?
#include <gtest/gtest.h>

#include "tests/sim/hand_made.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing::sm_classes_test {
namespace {

const std::string kPolicy = "ndp-uncontrolled-bmap";

report::RunResult run(const std::vector<std::string>& keys, const sim::SimOptions& options = {}) {
  return simulate(workload("libor", 3'000'000), kPolicy, keys, options);
}

TEST(SmClasses, TheMainSmsValuesChangeNothing) {
  const auto expected = numbers(run({}));
  EXPECT_EQ(numbers(run({"stack_sm.clock_mhz=1400", "stack_sm.l1_bytes=32768", "stack_sm.l1_ways=4",
                         "stack_sm.schedulers=2", "stack_sm.sp_units=2", "stack_sm.sfu_units=1"})),
            expected);
}

TEST(SmClasses, ASlowStackSmTakesLongerAndNothingElse) {
  const report::RunResult fast = run({}), slow = run({"stack_sm.clock_mhz=350"});
  EXPECT_EQ(slow.core_mhz, fast.core_mhz);
  EXPECT_EQ(slow.warp_instructions, fast.warp_instructions);
  EXPECT_EQ(counter(slow, "stack_sm.issued"), counter(fast, "stack_sm.issued"));
  EXPECT_GT(slow.cycles, fast.cycles);
}

TEST(SmClasses, TheirCacheIsTheirOwn) {
  const runtime::Recording& recording = workload("kmeans", 3'000'000);
  const auto small = simulate(recording, kPolicy, {"stack_sm.l1_bytes=512", "l1.set_function=xor"});
  const auto large = simulate(recording, kPolicy);
  EXPECT_GT(counter(small, "stack_sm.l1.read_misses"), counter(large, "stack_sm.l1.read_misses"));
}

TEST(SmClasses, FewerPortsTakeLonger) {
  EXPECT_GT(run({"stack_sm.sp_units=1", "stack_sm.schedulers=1"}).cycles, run({}).cycles);
}

TEST(SmClasses, TheWayOfSteppingDoesNotShow) {
  const std::vector<std::string> keys{"stack_sm.clock_mhz=700", "stack_sm.l1_bytes=8192",
                                      "l1.set_function=xor"};
  const runtime::Recording& recording = workload("kmeans", 300'000);
  for (const char* policy : {"ndp-controlled-bmap", "tom"}) {
    const auto expected = numbers(simulate(recording, policy, keys));
    sim::SimOptions options;
    options.window_ticks = 113;
    options.order_seed = 3;
    options.threads = 2;
    EXPECT_EQ(numbers(simulate(recording, policy, keys, options)), expected) << policy;
  }
}

}  // namespace
}  // namespace nearwarp::testing::sm_classes_test
