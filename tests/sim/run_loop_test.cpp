// Do runs end as they should: completely, at a limit, by interruption, or with a report of which
// component waits for which?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/timing/machine/system.h"
#include "host/timing/run/checks.h"
#include "host/timing/run/replay.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim::run_loop_test {
namespace {

using testing::counter;
using testing::numbers;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kFewSms = {"gpu.sms=4", "gpu.sms_with_ndp=4"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& more) {
  overrides.push_back(more);
  return overrides;
}

TEST(RunLoop, CompleteRunsCommitWhatWasRecorded) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  for (const char* policy : {"baseline", "ndp-uncontrolled-bmap", "ndp-controlled-bmap"}) {
    const report::RunResult r = simulate(recording, policy, kFewSms);
    EXPECT_FALSE(r.partial);
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
    EXPECT_EQ(r.thread_instructions, recording.thread_instructions);
    EXPECT_EQ(r.workload, "kmeans");
    EXPECT_EQ(r.policy, policy);
    EXPECT_EQ(r.core_mhz, 1400u);
    ASSERT_EQ(r.kernels.size(), recording.launches.size());
    uint64_t instructions = 0, cycles = 0;
    for (const report::KernelRow& k : r.kernels) {
      instructions += k.warp_instructions;
      cycles += k.cycles;
    }
    EXPECT_EQ(instructions, recording.warp_instructions);
    EXPECT_LE(cycles, r.cycles + r.kernels.size());
  }
}

TEST(RunLoop, MaxCyclesGivesAPartialResult) {
  const runtime::Recording& recording = workload("bfs-rmat", 400'000);
  const report::RunResult whole = simulate(recording, "baseline", kFewSms);
  const report::RunResult r = simulate(
      recording, "baseline", with(kFewSms, "run.max_cycles=" + std::to_string(whole.cycles / 3)));
  EXPECT_TRUE(r.partial);
  EXPECT_NE(r.partial_reason.find("max_cycles"), std::string::npos) << r.partial_reason;
  EXPECT_EQ(r.cycles, whole.cycles / 3);
  EXPECT_GT(r.warp_instructions, 0u);
  EXPECT_LT(r.warp_instructions, whole.warp_instructions);
}

TEST(RunLoop, InterruptionGivesAPartialResult) {
  const runtime::Recording& recording = workload("gather");
  SimOptions o;
  int calls = 0;
  Progress last;
  o.progress = [&](const Progress& p) {
    EXPECT_GE(p.cycles, last.cycles);
    EXPECT_GE(p.warp_instructions_done, last.warp_instructions_done);
    EXPECT_EQ(p.warp_instructions_total, recording.warp_instructions);
    last = p;
    return ++calls < 2;
  };
  const report::RunResult r = simulate(recording, "baseline", {}, o);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(r.partial);
  EXPECT_EQ(r.partial_reason, "interrupted");
  EXPECT_LT(r.warp_instructions, recording.warp_instructions);
}

TEST(RunLoop, ProgressDoesNotChangeResults) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  SimOptions o;
  o.progress = [](const Progress&) { return true; };
  EXPECT_EQ(numbers(simulate(recording, "ndp-controlled-bmap", kFewSms, o)),
            numbers(simulate(recording, "ndp-controlled-bmap", kFewSms)));
}

TEST(RunLoop, NoProgressIsReported) {
  // Dependent operations that take longer than the run may do without a committed instruction.
  testing::PtxDevice d(R"(
.visible .entry chain(.param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [n];
loop:
  max.s32 %r2, %r2, %r1;
  max.s32 %r2, %r2, %r1;
  max.s32 %r2, %r2, %r1;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra loop;
  ret;
}
)");
  d.device.launch(d.module, "chain", {1}, {32}, 0, runtime::KernelArgs(100));
  const runtime::Recording recording = d.record();
  config::MachineConfig machine = config::load_machine("tom", kFewSms);
  machine.classes.int_max.latency_cycles = 65000;
  machine.run.no_progress_cycles = 1000;
  try {
    sim::replay_on_cpu(recording, machine, config::load_policy("baseline"), {});
    FAIL() << "no error";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("no instruction was committed for"), std::string::npos) << text;
    EXPECT_NE(text.find("run.no_progress_cycles"), std::string::npos) << text;
    EXPECT_NE(text.find("warps: 1 running"), std::string::npos) << text;
  }
}

TEST(RunLoop, DeadlockIsReported) {
  testing::PtxDevice d(R"(
.visible .entry meet(.param .u64 p)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  bar.sync 3;
  st.global.u32 [%rd1], 1;
  ret;
}
)");
  const runtime::DevicePtr p = d.device.allocate(4, "p");
  d.device.launch(d.module, "meet", {1}, {64}, 0, runtime::KernelArgs(p));
  runtime::Recording recording = d.record();
  const report::RunResult good = simulate(recording, "baseline", kFewSms);
  EXPECT_EQ(counter(good, "sm.barriers"), 2u);
  // The traces with a barrier that waits for three warps where there are two.
  auto kernel = std::make_shared<compiler::Kernel>(*recording.kernels.at(0));
  for (compiler::Instruction& in : kernel->instructions) {
    if (in.op != ptx::Opcode::kBar) continue;
    compiler::Operand threads;
    threads.kind = compiler::Operand::Kind::kImmediate;
    threads.bits = 96;
    in.srcs.resize(1);
    in.srcs.push_back(threads);
  }
  recording.kernels.at(0) = kernel;
  try {
    simulate(recording, "baseline", kFewSms);
    FAIL() << "no error";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("deadlocked"), std::string::npos) << text;
    EXPECT_NE(text.find("2 at a barrier"), std::string::npos) << text;
  }
}

// Producers arrive at a barrier and end; the consumer comes to it when nobody else is left.
TEST(RunLoop, ABarrierOfThoseThatHaveEnded) {
  testing::PtxDevice d(R"(
.visible .entry meet(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .reg .pred %q<2>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %q1, %r1, 32;
  @%q1 bra consumer;
  bar.arrive 1, 96;
  ret;
consumer:
  ld.param.u64 %rd1, [p];
  ld.global.u64 %rd2, [%rd1];
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1+8], %r2;
  bar.sync 1, 96;
  st.global.u32 [%rd1+12], %r2;
  ret;
}
)");
  const runtime::DevicePtr p = d.device.allocate(16, "p");
  d.device.copy_to_device(p, &p, sizeof(p));
  d.device.launch(d.module, "meet", {1}, {96}, 0, runtime::KernelArgs(p));
  const runtime::Recording recording = d.record();
  EXPECT_FALSE(recording.truncated);
  const report::RunResult r = simulate(recording, "baseline", kFewSms);
  EXPECT_EQ(counter(r, "sm.barriers"), 3u);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
}

// Each half of the block meets at a barrier of its own, one of them more often.
TEST(RunLoop, NumbersOfBarriersMayBeInRegisters) {
  testing::PtxDevice d(R"(
.visible .entry meet(.param .u64 p)
{
  .reg .b32 %r<5>;
  .reg .pred %q<2>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 64;
  mov.u32 %r3, 1;
  mov.u32 %r4, 2;
  setp.lt.u32 %q1, %r1, 64;
  @%q1 bra first;
  bar.sync 2, %r2;
  bar.sync %r4, %r2;
  ret;
first:
  bar.sync 1, %r2;
  bar.sync %r3, 64;
  bar.sync 1, %r2;
  ret;
}
)");
  d.device.launch(d.module, "meet", {1}, {128}, 0, runtime::KernelArgs(runtime::DevicePtr{0}));
  const runtime::Recording recording = d.record();
  EXPECT_FALSE(recording.truncated);
  const report::RunResult r = simulate(recording, "baseline", kFewSms);
  EXPECT_EQ(counter(r, "sm.barriers"), 2u * 2 + 2 * 3);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
}

TEST(RunLoop, EmptyRecordingTakesNoTime) {
  runtime::VirtualDevice device;
  const runtime::Recording nothing = device.take_recording("nothing");
  const report::RunResult r = simulate(nothing, "ndp-controlled-bmap");
  EXPECT_FALSE(r.partial);
  EXPECT_EQ(r.cycles, 0u);
  EXPECT_EQ(r.warp_instructions, 0u);
}

class Conservation : public ::testing::Test {
 protected:
  config::MachineConfig machine = config::load_machine("tom", kFewSms);
  config::PolicyConfig policy = config::load_policy("ndp-controlled-bmap");
  Replay run{{&workload("kmeans", 50'000), &machine, &policy}, 0};
  System& system = run.system();

  std::string lost(uint64_t expected = 0) {
    try {
      check_conservation(system, expected);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
};

TEST_F(Conservation, AFreshMachineHoldsNothing) {
  EXPECT_EQ(lost(), "");
  EXPECT_NO_THROW(check_faults(system));
}
TEST_F(Conservation, LostPackets) {
  system.arena.get(system.channels[3].channel)->producer_side.packets += 1;
  EXPECT_NE(lost().find("1 packets"), std::string::npos) << lost();
}
TEST_F(Conservation, LostBytes) {
  system.arena.get(system.channels[3].channel)->consumer_side.bytes += 7;
  EXPECT_NE(lost().find("conservation"), std::string::npos);
}
TEST_F(Conservation, LostInstructions) {
  EXPECT_NE(lost(5).find("5 warp-instructions recorded, 0 committed"), std::string::npos);
}
TEST_F(Conservation, HeldSlots) {
  system.sm(1).free_warps.clear(2);
  EXPECT_NE(lost().find("sm 1 still holds warps"), std::string::npos);
  system.sm(1).free_warps.set(2);
  system.sm(2).l1.mshr_free &= ~uint64_t{1};
  EXPECT_NE(lost().find("MSHRs"), std::string::npos);
  system.sm(2).l1.mshr_free |= 1;
  system.sm(0).epoch_stores[5] = 1;
  EXPECT_NE(lost().find("never acknowledged"), std::string::npos);
}
TEST_F(Conservation, Faults) {
  system.front_end().fault.code = kFaultUnexpectedPacket;
  EXPECT_THROW(check_faults(system), Error);
}

}  // namespace
}  // namespace nearwarp::sim::run_loop_test
