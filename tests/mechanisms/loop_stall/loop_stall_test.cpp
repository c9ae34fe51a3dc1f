// Can a mechanism be added without touching the models or the builder, alone and beside TOM? It is
// the example in bench/samples/mechanism.
#include <gtest/gtest.h>
#include <loop_stall/device.h>
#include <loop_stall/settings.h>

#include "host/mechanisms/mechanism.h"
#include "host/mechanisms/tom/mechanism.h"
#include "kernels/component.h"
#include "tests/sim/hand_made.h"
#include "tests/support/program.h"

namespace nearwarp::loop_stall {
const sim::Mechanism& mechanism();
}

namespace nearwarp::testing {
namespace {

/// A family whose SMs know TOM and the new mechanism.
using Family = kernels::FamilyWith<sm::MechanismList<tom::Mechanism, loop_stall::Mechanism>>;

constexpr const char* kTwoLoops = R"(
.visible .entry k(.param .u64 data) {
  .reg .pred %p<3>; .reg .b32 %r<12>;
  mov.u32 %r1, 0;
L1:
  mov.u32 %r2, 0;
L2:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 3;
  @%p1 bra L2;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %r1, 5;
  @%p2 bra L1;
  mov.u32 %r3, 0;
L3:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 2;
  @%p1 bra L3;
  ret;
})";

report::RunResult run(const runtime::Recording& recording, const std::string& mechanism,
                      uint32_t stall_cycles, sim::SimOptions options = {},
                      const std::string& policy_name = "baseline") {
  static const nearwarp::tom::TomMechanism tom;
  const sim::Mechanism* const all[] = {&tom, &loop_stall::mechanism()};
  options.mechanisms = all;
  options.family = kernels::step_on_cpu<Family>;
  config::PolicyConfig policy = config::load_policy(policy_name);
  policy.mechanism = mechanism;
  policy.table<loop_stall::Settings>().stall_cycles = stall_cycles;
  return sim::replay_on_cpu(recording, config::load_machine("tom"), policy, options);
}

runtime::Recording one_warp() {
  PtxDevice d(kTwoLoops);
  d.device.launch(d.module, "k", {1}, {32}, 0, runtime::KernelArgs(uint64_t{0}));
  return d.record();
}

TEST(LoopStall, StallsEachInstanceOnce) {
  const runtime::Recording recording = one_warp();
  const uint64_t without = run(recording, "none", 0).cycles;
  const report::RunResult with = run(recording, "loop_stall", 100);
  const report::RunResult longer = run(recording, "loop_stall", 350);
  EXPECT_EQ(counter(with, "loop_stall.instances"), 2u);  // the inner loop is the outer one's
  EXPECT_EQ(counter(with, "loop_stall.cycles"), 200u);
  EXPECT_GT(with.cycles, without + 150);  // while it stalls, operands become ready
  EXPECT_EQ(longer.cycles, with.cycles + 2 * 250);
  // A stall of no cycles changes nothing.
  EXPECT_EQ(run(recording, "loop_stall", 0).cycles, without);
}

TEST(LoopStall, AFamilyWithItIsTheProductsWhereItIsNotAttached) {
  for (const char* policy : {"baseline", "tom"}) {
    const std::string mechanism = policy == std::string("tom") ? "tom" : "none";
    const runtime::Recording& recording = workload("kmeans", 1'000'000);
    EXPECT_EQ(numbers(run(recording, mechanism, 50, {}, policy)),
              numbers(simulate(recording, policy)));
  }
}

TEST(LoopStall, TheWayOfSteppingDoesNotShow) {
  const runtime::Recording& recording = workload("bfs-rmat", 1'000'000);
  const auto expected = numbers(run(recording, "loop_stall", 77));
  std::vector<sim::SimOptions> variations(2);
  variations[0].window_ticks = 997;
  variations[0].order_seed = 5;
  variations[1].threads = 2;
  for (const sim::SimOptions& o : variations)
    EXPECT_EQ(numbers(run(recording, "loop_stall", 77, o)), expected);
}

TEST(LoopStall, BesideTom) {
  const runtime::Recording& recording = hand_made("hand-made-stores");
  const report::RunResult tom = run(recording, "tom", 0, {}, "ndp-controlled-bmap");
  const report::RunResult both = run(recording, "tom+loop_stall", 5000, {}, "ndp-controlled-bmap");
  EXPECT_FALSE(both.partial);
  EXPECT_EQ(both.warp_instructions, tom.warp_instructions);
  EXPECT_GT(counter(both, "loop_stall.instances"), 0u);
  EXPECT_GT(counter(both, "offload.instances"), 0u);
  EXPECT_NE(both.cycles, tom.cycles);
}

TEST(LoopStall, AnUnknownMechanismIsAnError) {
  try {
    run(one_warp(), "loop-stal", 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("there is no mechanism 'loop-stal' - these are: none, "
                                         "tom, loop_stall"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace nearwarp::testing
