// Are results right of kernels that are traced up to a limit? The traces of their thread blocks end
// inside, and every machine and mechanism can run what there is.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "host/recording/trace_replay.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

/// Thread i sums a[hash] of `rounds` times 16 numbers into out[i]; warps meet in pairs after each
/// round, and odd rounds are of half the lanes.
constexpr const char* kGather = R"(
.visible .entry gather(.param .u64 a, .param .u64 out, .param .u32 rounds) {
  .reg .b64 %rd<6>; .reg .b32 %r<16>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  shl.b32 %r4, %r2, 7;
  add.u32 %r4, %r4, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3;
  mov.u32 %r5, 0;
  mov.u32 %r6, %r4;
  shr.u32 %r9, %r3, 6;
  add.u32 %r9, %r9, 1;
round:
  and.b32 %r10, %r1, %r3;
  and.b32 %r10, %r10, 1;
  setp.eq.u32 %p1, %r10, 1;
  @%p1 bra meet;
  mov.u32 %r7, 16;
next:
  mad.lo.u32 %r6, %r6, 1664525, 1013904223;
  shr.u32 %r8, %r6, 20;
  mul.wide.u32 %rd3, %r8, 4;
  add.s64 %rd5, %rd1, %rd3;
  ld.global.u32 %r11, [%rd5];
  add.u32 %r5, %r5, %r11;
  sub.u32 %r7, %r7, 1;
  setp.ne.u32 %p2, %r7, 0;
  @%p2 bra next;
  st.global.u32 [%rd4], %r5;
meet:
  bar.sync %r9, 64;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra round;
  ret;
})";

constexpr uint32_t kRounds = 400, kGrid = 4, kGatherers = 128, kGathered = 4096;

struct Traced {
  runtime::Recording recording;
  std::vector<uint32_t> out;
  std::vector<std::string> too_long;  ///< kernels
};

/// Two launches of the kernel.
Traced gather(uint64_t max_instructions, uint64_t max_trace_bytes) {
  Traced traced;
  runtime::VirtualDevice::Options options;
  options.max_thread_instructions = max_instructions;
  options.max_trace_bytes = max_trace_bytes;
  options.execute_beyond_limit = true;
  options.traces_too_long = [&](const std::string& name) { traced.too_long.push_back(name); };
  runtime::VirtualDevice device(options);
  const uint32_t module =
      device.load_module(std::make_shared<const compiler::Program>(compiler::compile_ptx(
          std::string(".version 8.0\n.target sm_80\n.address_size 64\n") + kGather, "gather.ptx")));
  std::vector<uint32_t> numbers(kGathered);
  for (uint32_t i = 0; i < kGathered; ++i) numbers[i] = i * i;
  const uint64_t a = device.upload(numbers);
  const uint64_t out = device.allocate(kGrid * kGatherers * 4);
  for (int i = 0; i < 2; ++i)
    device.launch(module, "gather", {kGrid}, {kGatherers}, 0, runtime::KernelArgs(a, out, kRounds));
  traced.out = device.download<uint32_t>(out, kGrid * kGatherers);
  traced.recording = device.take_recording("gather");
  return traced;
}

/// Expects every machine and policy to simulate all that was recorded.
void expect_simulated(const runtime::Recording& recording) {
  const std::pair<const char*, std::vector<const char*>> machines[] = {
      {"tom", {"baseline", "ndp-uncontrolled-bmap", "tom", "tuned", "previous-offload"}},
      {"coda", {"baseline", "coda"}},
      {"opportunistic", {"llc-compute", "omni-compute"}},
      {"mpu", {"mpu", "mpu-near", "ponb"}}};
  for (const auto& [machine, policies] : machines)
    for (const char* policy : policies) {
      SCOPED_TRACE(std::string(machine) + ", " + policy);
      const report::RunResult result = sim::replay_on_cpu(
          recording, config::load_machine(machine), config::load_policy(policy), SimOptions{});
      EXPECT_EQ(result.thread_instructions, recording.thread_instructions);
    }
}

TEST(CutTraces, WithoutALimitNothingIsCut) {
  const Traced all = gather(0, ~uint64_t{0});
  EXPECT_FALSE(all.recording.truncated);
  EXPECT_EQ(all.recording.launches.size(), 2u);
  EXPECT_TRUE(all.too_long.empty());
  const Traced limited = gather(all.recording.thread_instructions * 2, uint64_t{1} << 30);
  EXPECT_EQ(limited.recording.thread_instructions, all.recording.thread_instructions);
  EXPECT_FALSE(limited.recording.truncated);
}

TEST(CutTraces, InstructionsEndTheTracesOfABlock) {
  const Traced all = gather(0, ~uint64_t{0});
  const uint64_t block = all.recording.thread_instructions / 2 / kGrid;
  for (const uint64_t most : {block / 4, block + block / 2, 5 * block + block / 2}) {
    SCOPED_TRACE(most);
    const Traced some = gather(most, ~uint64_t{0});
    EXPECT_EQ(some.out, all.out);
    EXPECT_TRUE(some.too_long.empty());
    const runtime::Recording& r = some.recording;
    runtime::validate(r);
    EXPECT_TRUE(r.truncated);
    EXPECT_EQ(r.launches.size(), most > 4 * block ? 2u : 1u);
    EXPECT_EQ(r.launches.back().blocks_recorded, most < block ? 1u : 2u);
    // Each of the four warps is cut at the end of a turn of 32,768 warp-instructions.
    EXPECT_GE(r.thread_instructions, most);
    EXPECT_LT(r.thread_instructions, most + 4 * 33'000 * 32);
  }
}

TEST(CutTraces, MemoryEndsTheTracesOfABlock) {
  const Traced all = gather(0, ~uint64_t{0});
  const Traced some = gather(0, 1 << 20);
  EXPECT_EQ(some.out, all.out);
  runtime::validate(some.recording);
  EXPECT_TRUE(some.recording.truncated);
  EXPECT_EQ(some.too_long, std::vector<std::string>{"gather"});
  EXPECT_LE(some.recording.traces.total_words() * 8, 1u << 20);
  EXPECT_GE(some.recording.traces.total_words() * 8, 1u << 18);
}

TEST(CutTraces, AreSimulatedByAll) {
  const Traced all = gather(0, ~uint64_t{0});
  expect_simulated(gather(all.recording.thread_instructions / 30, ~uint64_t{0}).recording);
  expect_simulated(gather(0, 50'000).recording);
}

}  // namespace
}  // namespace nearwarp::sim
