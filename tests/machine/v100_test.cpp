// Does the machine v100 do what is known of a V100?
#include <gtest/gtest.h>

#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

report::RunResult run_on_machine(const runtime::Recording& recording,
                                 const char* machine = "v100") {
  return sim::replay_on_cpu(recording, config::load_machine(machine),
                            config::load_policy("baseline"), {});
}

uint64_t counter_of(const report::RunResult& result, const std::string& name) {
  for (const auto& [counter, value] : numbers(result))
    if (counter == name) return value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

TEST(V100, WhatIsWrittenIsReadFromTheL2) {
  PtxDevice d(R"(
.visible .entry w(.param .u64 data) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 256, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
.visible .entry r(.param .u64 data) {
  .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 256, %r2;
  xor.b32 %r3, %r3, 4096;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
  setp.ne.u32 %p1, %r4, %r3;
  @%p1 st.global.u32 [%rd3], %r1;
  ret;
})");
  constexpr uint32_t kBlocks = 256;  // 256 KiB
  const uint64_t data = d.device.allocate(kBlocks * 1024);
  for (const char* kernel : {"w", "r"})
    d.device.launch(d.module, kernel, {kBlocks}, {256}, 0, runtime::KernelArgs(data));
  const report::RunResult r = run_on_machine(d.record());
  EXPECT_EQ(counter_of(r, "l2.read_misses"), 0u);
  EXPECT_EQ(counter_of(r, "dram.bytes_read"), 0u);
}

TEST(V100, LanesOfAWarpAreOneAtomicWhereTheyWantOneAddress) {
  PtxDevice d(R"(
.visible .entry k(.param .u64 data) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [data];
  red.global.add.u32 [%rd1], 1;
  ret;
})");
  const uint64_t data = d.device.allocate(128);
  d.device.launch(d.module, "k", {10}, {256}, 0, runtime::KernelArgs(data));
  const runtime::Recording recording = d.record();
  EXPECT_EQ(counter_of(run_on_machine(recording), "l2.atomics"), 10u * 8);
  // In GPGPU-Sim's model atomics take a packet for each lane.
  EXPECT_EQ(counter_of(run_on_machine(recording, "qv100"), "l2.atomics"), 10u * 256);
}

/// The steady rate of products per clock and SM, from two runs that differ only in their rounds:
/// each of 32 warps of every SM has four independent chains of `mma`.
double products_a_cycle(const std::string& mma, double products) {
  const auto cycles = [&](uint64_t rounds) {
    std::string body;
    for (int chain = 0; chain < 4; ++chain) {
      const std::string c = "{%a" + std::to_string(chain) + "0, %a" + std::to_string(chain) +
                            "1, %a" + std::to_string(chain) + "2, %a" + std::to_string(chain) +
                            "3}";
      body += mma + " " + c + ", {%r1, %r1, %r1, %r1}, {%r1, %r1}, " + c + ";\n";
    }
    const std::string type = mma.find(".s32.") != std::string::npos ? ".b32" : ".f32";
    PtxDevice d(R"(
.visible .entry k(.param .u64 data, .param .u64 rounds) {
  .reg )" + type +
                " %a0<4>; .reg " + type + " %a1<4>; .reg " + type + " %a2<4>; .reg " + type +
                R"( %a3<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [rounds];
  mov.u32 %r1, %tid.x;
L1:
)" + body + R"(
  sub.u64 %rd2, %rd2, 1;
  setp.ne.u64 %p1, %rd2, 0;
  @%p1 bra L1;
  st.global)" + type +
                R"( [%rd1], %a00;
  st.global)" + type +
                R"( [%rd1+4], %a10;
  st.global)" + type +
                R"( [%rd1+8], %a20;
  st.global)" + type +
                R"( [%rd1+12], %a30;
  ret;
})");
    const uint64_t data = d.device.allocate(128);
    d.device.launch(d.module, "k", {8 * 80}, {128}, 0, runtime::KernelArgs(data, rounds));
    return run_on_machine(d.record()).cycles;
  };
  return 8.0 * 4 * 4 * products * 40 / static_cast<double>(cycles(60) - cycles(20));
}

TEST(V100, DoesTheProductsOfItsTensorCores) {
  EXPECT_NEAR(products_a_cycle("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16 * 8 * 16),
              512, 512 * 0.02);
  // A V100 has no products of bytes; with the ratio of later GPUs it would do twice as many.
  EXPECT_NEAR(products_a_cycle("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16 * 8 * 32),
              1024, 1024 * 0.02);
}

}  // namespace
}  // namespace nearwarp::testing
