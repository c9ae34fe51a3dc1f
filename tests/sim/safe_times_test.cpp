// May windows be longer than the control channels? SMs run ahead of the front end then, and no
// result shows it.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/timing/run/replay.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/hand_made.h"
#include "tests/sim/stepping.h"

namespace nearwarp::sim::safe_times_test {
namespace {

using testing::numbers;
using testing::workload;

/// Threads of every third block load a value; the others end at once.
constexpr const char* kShort = R"(
.visible .entry brief(.param .u64 p) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .pred %p<2>;
  mov.u32 %r1, %ctaid.x;
  rem.u32 %r2, %r1, 3;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 ret;
  ld.param.u64 %rd1, [p];
  mov.u32 %r3, %tid.x;
  shl.b32 %r4, %r1, 5;
  add.u32 %r4, %r4, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd3], %f2;
  ret;
})";

/// Makes launches of these numbers of thread blocks, of one warp each.
runtime::Recording launches(const std::vector<uint32_t>& blocks) {
  testing::PtxDevice d(kShort);
  for (const uint32_t n : blocks) {
    const uint64_t data = d.device.allocate(uint64_t{n} * 128);
    d.device.launch(d.module, "brief", {n}, {32}, 0, runtime::KernelArgs(data));
  }
  return d.record();
}

/// Many short launches, some in sequence and some side by side.
runtime::Recording many_launches() {
  runtime::Recording r = launches({1, 1, 2, 1, 40, 1, 1, 3, 7, 1, 1, 90, 2, 1, 1});
  for (uint32_t i = 6; i < 10; ++i) {
    r.launches[i].after_all = false;
    r.launches[i].after = {4};
  }
  return r;
}

struct Machine {
  const char* name;
  const char* machine;
  std::vector<std::string> keys;
};
void PrintTo(const Machine& m, std::ostream* out) { *out << m.name; }

class SafeTimes : public ::testing::TestWithParam<Machine> {
 protected:
  report::RunResult run(const runtime::Recording& recording, const SimOptions& options = {}) const {
    return replay_on_cpu(recording, machine_, policy_, options);
  }
  config::MachineConfig machine_ = config::load_machine(GetParam().machine, GetParam().keys);
  config::PolicyConfig policy_ = config::load_policy("baseline", GetParam().keys);

  void expect_no_difference(const runtime::Recording& recording) {
    Replay replay({&recording, &machine_, &policy_}, 0);
    const Tick control = replay.control().longest;
    ASSERT_EQ(replay.lengthen_windows().reach, control);
    ASSERT_GT(replay.control().longest, 2 * control);
    SimOptions short_windows;
    short_windows.window_ticks = control;
    const auto expected = numbers(run(recording, short_windows));
    EXPECT_EQ(numbers(run(recording)), expected);
    for (const SimOptions& way : testing::ways_of_stepping(2 * control + 1))
      EXPECT_EQ(numbers(run(recording, way)), expected);
    for (const Tick cycles : {2, 3, 5, 11}) {
      SimOptions longer;
      longer.window_ticks = cycles * control;
      longer.order_seed = static_cast<uint32_t>(cycles);
      longer.threads = cycles == 5 ? 2 : 1;
      EXPECT_EQ(numbers(run(recording, longer)), expected) << cycles;
    }
    kernels::EmulatedDevice device({});
    const ReplayJob job{&recording, &machine_, &policy_};
    EXPECT_EQ(numbers(testing::run_on(device, {&job, 1})[0]), expected);
    EXPECT_EQ(numbers(testing::run_as_batch(device, {&job, 1})[0]), expected);
  }
};

TEST_P(SafeTimes, ManyLaunches) { expect_no_difference(many_launches()); }

TEST_P(SafeTimes, ManyThreadBlocks) { expect_no_difference(launches({1000})); }

TEST_P(SafeTimes, Barriers) { expect_no_difference(testing::hand_made("hand-made-barriers")); }

TEST_P(SafeTimes, Memory) { expect_no_difference(workload("kmeans", 100'000)); }

TEST_P(SafeTimes, AStoppedRunGoesOn) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  const auto expected = numbers(run(recording));
  SimOptions o;
  o.checkpoint = ::testing::TempDir() + "safe-times-" + GetParam().name;
  std::filesystem::remove(o.checkpoint);
  o.progress_interval = std::chrono::milliseconds(0);
  int stops = 0;
  for (;; ++stops) {
    // Windows are short every other time, so that a checkpoint is resumed with the other length.
    o.window_ticks = stops % 2 == 0 ? 0 : 1;
    o.progress = [](const Progress&) { return false; };
    const report::RunResult result = run(recording, o);
    if (!result.partial) {
      EXPECT_EQ(numbers(result), expected);
      break;
    }
    ASSERT_LT(stops, 1000);
  }
  EXPECT_GT(stops, 0);
  std::filesystem::remove(o.checkpoint);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, SafeTimes,
    ::testing::Values(
        Machine{"gtx480", "gtx480", {}},
        Machine{"two_sms", "gtx480", {"gpu.sms=2", "gpu.launches_in_flight=1"}},
        Machine{"two_at_a_time", "gtx480", {"gpu.launches_in_flight=2"}},
        Machine{"in_groups",
                "discrete16",
                {"gpu.control_latency_cycles=1", "dispatch.groups=3", "dispatch.steal=true"}},
        Machine{"filling", "discrete16", {"gpu.control_latency_cycles=2", "dispatch.sms=fill"}},
        Machine{"other_clocks",
                "discrete16",
                {"gpu.control_latency_cycles=1", "clocks.core_mhz=1300",
                 "gpu.launches_share_sms=false"}},
        Machine{"stacks", "tom", {"gpu.control_latency_cycles=1", "gpu.sms=8"}}),
    [](const auto& test) { return test.param.name; });

TEST(SafeTimePlans, AreMadeWhereThereIsSomethingToGain) {
  const runtime::Recording recording = launches({4});
  const auto reach = [&](const char* machine, const char* policy, Tick window) {
    const config::MachineConfig m = config::load_machine(machine);
    const config::PolicyConfig p = config::load_policy(policy);
    Replay replay({&recording, &m, &p}, window);
    return replay.lengthen_windows().reach;
  };
  EXPECT_EQ(reach("gtx480", "baseline", 0), 33u);
  EXPECT_EQ(reach("gtx480", "baseline", 33), 0u);
  EXPECT_EQ(reach("gtx480", "baseline", 34), 33u);
  EXPECT_EQ(reach("bench80", "baseline", 0), 0u) << "no channel is longer";
  EXPECT_EQ(reach("tom", "tom", 0), 0u) << "mechanisms send what they like";
}

}  // namespace
}  // namespace nearwarp::sim::safe_times_test
