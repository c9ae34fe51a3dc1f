// Can several launches, and several programs, run on one machine at a time? They overlap, results
// do not depend on what steps the machine, a stopped run goes on, and programs do not see each
// other's data.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/recording/combine.h"
#include "host/recording/trace_replay.h"
#include "tests/sim/device_rig.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
using testing::simulate;

const std::vector<std::string> kSmall = {"gpu.sms=8", "gpu.sms_with_ndp=8", "stack.vaults=4",
                                         "l2.slices=4"};

/// Adds one to each of n floats, rounds times.
constexpr const char* kAddOne = R"(
.visible .entry add_one(.param .u64 p, .param .u32 rounds) {
  .reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r5, [rounds];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
again:
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, 0f3F800000;
  st.global.f32 [%rd3], %f2;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra again;
  ret;
})";

/// Makes launches of these numbers of thread blocks, one after the other, each with data of its
/// own.
runtime::Recording launches(const std::vector<uint32_t>& blocks, uint32_t rounds = 6) {
  testing::PtxDevice d(kAddOne);
  for (const uint32_t n : blocks) {
    const uint64_t data = d.device.allocate(uint64_t{n} * 128 * 4);
    d.device.launch(d.module, "add_one", {n}, {128}, 0, runtime::KernelArgs(data, rounds));
  }
  return d.record();
}

/// A fork and a join: 0, then 1 and 2 and 3 beside each other, then 4.
runtime::Recording fork_and_join() {
  runtime::Recording r = launches({5, 9, 7, 30, 4});
  for (uint32_t i = 1; i < 4; ++i) {
    r.launches[i].after_all = false;
    r.launches[i].after = {0};
  }
  return r;
}

TEST(SeveralLaunches, OverlapAndStillWaitForWhomTheyMust) {
  const runtime::Recording in_order = launches({5, 9, 7, 30, 4});
  const report::RunResult serial = simulate(in_order, "baseline");
  const report::RunResult parallel = simulate(fork_and_join(), "baseline");
  EXPECT_LT(parallel.cycles, serial.cycles);
  EXPECT_EQ(parallel.warp_instructions, serial.warp_instructions);
  ASSERT_EQ(parallel.kernels.size(), 5u);
  const auto end = [&](size_t i) { return parallel.kernels[i].begin + parallel.kernels[i].cycles; };
  EXPECT_EQ(parallel.kernels[0].begin, 0u);
  uint64_t last = 0;
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(parallel.kernels[i].begin, end(0));
    last = std::max(last, end(i));
  }
  EXPECT_EQ(parallel.kernels[4].begin, last);
  EXPECT_EQ(end(4), parallel.cycles);
  // Launches that run one at a time take as long as if each waited for the one before, except for
  // gaps.
  const report::RunResult one = simulate(fork_and_join(), "baseline", {"gpu.launches_in_flight=1"});
  EXPECT_LE(one.cycles, serial.cycles);
  EXPECT_GT(one.cycles, parallel.cycles);
}

TEST(SeveralLaunches, WhateverStepsThemFindsTheSame) {
  const runtime::Recording r = fork_and_join();
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"gpu.launches_share_sms=false"},
                                               {"gpu.launches_in_flight=2"},
                                               {"dispatch.groups=3", "dispatch.steal=true"},
                                               {"dispatch.groups=2", "dispatch.sms=fill"}}) {
    std::vector<std::string> keys = kSmall;
    keys.insert(keys.end(), more.begin(), more.end());
    for (const char* policy : {"baseline", "ndp-controlled-bmap"}) {
      SCOPED_TRACE(std::string(policy) + (more.empty() ? "" : " " + more[0]));
      const auto expected = numbers(simulate(r, policy, keys));
      for (const Tick window : {1, 7}) {
        SimOptions o;
        o.window_ticks = window;
        o.order_seed = 5;
        testing::use_general_steps(o);
        o.threads = window == 1 ? 1 : 2;
        EXPECT_EQ(numbers(simulate(r, policy, keys, o)), expected);
      }
      kernels::EmulatedDevice device({});
      const testing::Configs configs({policy}, keys);
      EXPECT_EQ(numbers(testing::run_on(device, configs.systems(r))[0]), expected);
      EXPECT_EQ(numbers(testing::run_as_batch(device, configs.systems(r))[0]), expected);
    }
  }
}

TEST(SeveralLaunches, AStoppedRunGoesOn) {
  const runtime::Recording r = fork_and_join();
  const auto folder = std::filesystem::path(::testing::TempDir()) / "several-launches";
  std::filesystem::create_directories(folder);
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"dispatch.groups=3"}}) {
    std::vector<std::string> keys = kSmall;
    keys.insert(keys.end(), more.begin(), more.end());
    const auto expected = numbers(simulate(r, "baseline", keys));
    SimOptions o;
    o.checkpoint = folder / (more.empty() ? "one" : "groups");
    std::filesystem::remove(o.checkpoint);
    o.window_ticks = 1;
    o.progress_interval = std::chrono::milliseconds(0);
    int stops = 0;
    while (true) {
      int asked = 0;
      o.progress = [&](const Progress&) { return ++asked < 2; };
      const report::RunResult result = simulate(r, "baseline", keys, o);
      if (!result.partial) {
        EXPECT_EQ(numbers(result), expected);
        break;
      }
      ASSERT_LT(++stops, 1000);
    }
    EXPECT_GT(stops, 2);
  }
  std::filesystem::remove_all(folder);
}

TEST(SeveralLaunches, ProgramsTogetherShareTheMachineAndNotTheirData) {
  // Both programs use the same addresses.
  const report::RunResult alone = simulate(launches({40}, 1), "baseline");
  std::vector<runtime::Recording> two;
  two.push_back(launches({40}, 1));
  two.push_back(launches({40}, 1));
  const runtime::Recording both = runtime::combine(std::move(two));
  runtime::validate(both);
  EXPECT_EQ(both.name, "test+test");
  const report::RunResult together = simulate(both, "baseline");
  EXPECT_EQ(together.warp_instructions, 2 * alone.warp_instructions);
  EXPECT_EQ(counter(together, "dram.reads"), 2 * counter(alone, "dram.reads"));
  EXPECT_LT(together.cycles, 2 * alone.cycles);
  ASSERT_EQ(together.applications.size(), 2u);
  EXPECT_EQ(std::max(together.applications[0].cycles, together.applications[1].cycles),
            together.cycles);
  EXPECT_EQ(together.applications[1].warp_instructions, alone.warp_instructions);
}

TEST(SeveralLaunches, ProgramsTogetherAreOffloadedAndFoundTheSame) {
  std::vector<runtime::Recording> some;
  some.push_back(launches({12, 6}));
  some.push_back(launches({9, 9}));
  some.push_back(launches({3, 20}));
  const runtime::Recording all = runtime::combine(std::move(some));
  const ImageTables image = build_image(all, config::load_machine("tom", kSmall));
  for (uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(image.launches[i].space, i / 2);
    EXPECT_EQ(image.launches[i].waits_for, i % 2) << "the second one of each waits for the first";
    EXPECT_EQ(image.launches[i].num_waiting, 1 - i % 2);
  }
  const auto expected = numbers(simulate(all, "ndp-uncontrolled-bmap", kSmall));
  SimOptions o;
  o.window_ticks = 3;
  o.order_seed = 9;
  EXPECT_EQ(numbers(simulate(all, "ndp-uncontrolled-bmap", kSmall, o)), expected);
  kernels::EmulatedDevice device({});
  const testing::Configs configs({"ndp-uncontrolled-bmap"}, kSmall);
  EXPECT_EQ(numbers(testing::run_on(device, configs.systems(all))[0]), expected);
  EXPECT_EQ(numbers(testing::run_as_batch(device, configs.systems(all))[0]), expected);
  EXPECT_THROW(simulate(all, "tom", kSmall), Error);
}

TEST(SeveralLaunches, TooManyGroupsAreAnError) {
  EXPECT_THROW(simulate(launches({2}), "baseline", {"gpu.sms=4", "dispatch.groups=5"}), Error);
  EXPECT_NO_THROW(simulate(launches({2}), "baseline", {"gpu.sms=4", "dispatch.groups=4"}));
}

}  // namespace
}  // namespace nearwarp::sim
