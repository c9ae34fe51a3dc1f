// How many bytes and cycles do a lone register's way over the TSVs, a lone near-bank instruction, a
// lone offloaded load and a lone chain of dependent instructions take? How many commits does a
// core take?
#include <gtest/gtest.h>

#include "host/mechanisms/mpu/settings.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::PtxDevice;

/// A block on core 0, whose data lies behind the units of its warps.
report::RunResult run(const std::string& body, const std::vector<std::string>& keys = {},
                      const std::string& policy = "mpu", uint32_t threads = 32) {
  PtxDevice d(
      ".visible .entry k(.param .u64 p)\n{\n"
      "  .reg .pred %p<2>;\n  .reg .b32 %r<8>;\n  .reg .f32 %f<8>;\n  .reg .b64 %rd<4>;\n"
      "  ld.param.u64 %rd1, [p];\n  mov.u32 %r1, %tid.x;\n"
      "  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd3, %rd1, %rd2;\n" +
      body + "  ret;\n}\n");
  // Whose first line is that of core 0 and its first unit.
  constexpr uint64_t kAllCores = 128 * 1024;
  const runtime::DevicePtr p = d.device.allocate(2 * kAllCores, "p");
  const runtime::DevicePtr at = (p + kAllCores - 1) / kAllCores * kAllCores;
  d.device.launch(d.module, "k", {1}, {threads}, 0, runtime::KernelArgs(at));
  std::vector<std::string> all = keys;
  all.push_back("dram.tREFI=0");
  return replay_on_cpu(d.record(), config::load_machine("mpu", all),
                       config::load_policy(policy, all), {});
}

struct Wires {
  const config::MachineConfig m = config::load_machine("mpu");
  const mpu::Settings p = config::load_policy("mpu").table<mpu::Settings>();
  uint32_t tsv = m.near_bank.tsv_latency_cycles;
  /// Interconnect cycles, two to a core's: through the TSVs' switch, either way.
  uint32_t up(uint32_t bytes) const { return 2 * tsv + (bytes + 7) / 8 - 1; }
  uint32_t down(uint32_t bytes) const { return up(bytes); }
};
/// Cycles from a subcore's wish to send something to its departure.
constexpr uint32_t kLeaves = 1;
constexpr uint32_t core_cycles(uint32_t cycles) { return (cycles + 1) / 2; }

TEST(MpuAlone, ARegisterMovesUp) {
  // %r1 is an address's part, and far; what is stored is wanted near.
  const report::RunResult r = run("  st.global.u32 [%rd3], %r1;\n");
  const Wires w;
  EXPECT_EQ(counter(r, "mpu.moves_near"), 1u);
  EXPECT_EQ(counter(r, "mpu.moves_far"), 0u);
  EXPECT_EQ(counter(r, "mpu.stores_near"), 1u);
  const uint32_t move = w.p.word_bytes + 128;
  EXPECT_EQ(counter(r, "mpu.held_move"), kLeaves + core_cycles(w.up(move)));
  // Beside it the store goes up, and its acknowledgement comes down.
  EXPECT_EQ(counter(r, "stack.switch_bytes"), move + w.p.access_bytes + w.m.packets.header_bytes);
}

TEST(MpuAlone, ARegisterMovesDown) {
  const report::RunResult r =
      run("  ld.global.f32 %f1, [%rd3];\n  ex2.approx.f32 %f2, %f1;\n"
          "  cvt.rzi.u32.f32 %r2, %f2;\n  setp.eq.u32 %p1, %r2, 77;\n  @%p1 trap;\n");
  const Wires w;
  EXPECT_EQ(counter(r, "mpu.loads_near"), 1u);
  EXPECT_EQ(counter(r, "mpu.moves_far"), 1u);
  EXPECT_EQ(counter(r, "mpu.moves_near"), 0u);
  const uint32_t move = w.p.word_bytes + 128;
  EXPECT_EQ(counter(r, "mpu.held_move"),
            kLeaves + core_cycles(w.up(w.p.word_bytes)) + core_cycles(w.down(move)));
  EXPECT_EQ(counter(r, "stack.switch_bytes"),
            w.p.word_bytes + move + w.p.access_bytes + w.m.packets.header_bytes);
}

TEST(MpuAlone, ANearBankInstruction) {
  const report::RunResult r =
      run("  ld.global.f32 %f1, [%rd3];\n  add.f32 %f2, %f1, %f1;\n"
          "  st.global.f32 [%rd3], %f2;\n");
  const Wires w;
  EXPECT_EQ(counter(r, "mpu.near"), 1u);
  EXPECT_EQ(counter(r, "mpu.moves_near") + counter(r, "mpu.moves_far"), 0u);
  EXPECT_EQ(counter(r, "mpu.near_tsv_cycles"), kLeaves + core_cycles(w.up(w.p.word_bytes)));
  EXPECT_EQ(counter(r, "mpu.near_collector_cycles"), 0u);
  EXPECT_EQ(counter(r, "mpu.near_alu_cycles"), 0u);
  EXPECT_EQ(counter(r, "mpu.port_cycles"), w.m.classes.fp32_add.interval_cycles);
  EXPECT_EQ(counter(r, "mpu.near_commit_cycles"), core_cycles(w.down(w.p.word_bytes)));
  EXPECT_EQ(counter(r, "mpu.near_cycles"), counter(r, "mpu.near_tsv_cycles") +
                                               counter(r, "mpu.near_execution_cycles") +
                                               counter(r, "mpu.near_commit_cycles"));
  // The load, the instruction and the store, each there and back: no data.
  EXPECT_EQ(counter(r, "stack.switch_bytes"),
            2 * (w.p.access_bytes + w.m.packets.header_bytes) + 2 * w.p.word_bytes);
}

TEST(MpuAlone, AnOffloadedLoad) {
  const report::RunResult r = run("  ld.global.f32 %f1, [%rd3];\n");
  const Wires w;
  EXPECT_EQ(counter(r, "mpu.loads_near"), 1u);
  EXPECT_EQ(counter(r, "mpu.bank_reads"), 1u);
  // An activation, a read, and 128 bytes at 16 GB/s.
  const uint32_t bank = 1 + w.m.dram.tRCD + w.m.dram.tCL + 8;
  EXPECT_EQ(counter(r, "mpu.bank_cycles"), bank);
  // From the load-store unit through the router to the TSVs; the end of it comes back.
  const uint32_t way = w.m.interconnect.channel_latency_cycles + w.up(w.p.access_bytes);
  EXPECT_NEAR(static_cast<double>(counter(r, "mpu.load_cycles")),
              core_cycles(way) + bank + core_cycles(w.down(w.m.packets.header_bytes)), 1.0);
}

/// Dependent additions behind a load, whose results are stored; by `policy`.
uint64_t chain_cycles(uint32_t length, const std::string& policy) {
  std::string body = "  ld.global.f32 %f1, [%rd3];\n";
  for (uint32_t i = 0; i < length; ++i) body += "  add.f32 %f1, %f1, %f1;\n";
  const report::RunResult r = run(body + "  st.global.f32 [%rd3], %f1;\n", {}, policy);
  if (policy == "mpu") {
    EXPECT_EQ(counter(r, "mpu.near"), length);
  }
  return r.cycles;
}

TEST(MpuAlone, AChainOfDependentInstructions) {
  // An addition of one register takes the latches before and behind the operand collector and that
  // to the write-back, its operand, and its execution (GPGPU-Sim 4.2, docs/gpgpu-sim.md).
  const Wires w;
  const uint32_t far = w.m.sm.pipeline_cycles + 1 + w.m.classes.fp32_add.latency_cycles;
  EXPECT_EQ(chain_cycles(512, "ponb") - chain_cycles(256, "ponb"), 256 * far);
  // Near the banks the same stages, and both ways over the TSVs between them (section IV-B1): up
  // after the issue, down to the commit. The stages of the subcore are not passed again.
  const uint32_t tsvs = core_cycles(w.up(w.p.word_bytes)) + core_cycles(w.down(w.p.word_bytes));
  EXPECT_EQ(far, 8u);
  EXPECT_EQ(tsvs, 2u);
  EXPECT_EQ(chain_cycles(512, "mpu") - chain_cycles(256, "mpu"), 256 * (far + tsvs));
}

TEST(MpuAlone, ASubcoreTakesWhatTheTsvsBring) {
  // Eight warps of six chains of near-bank additions each: an instruction and its commit are a word
  // of 8 bytes, of which TSVs of 64 bits at 2 GHz carry two in a core cycle.
  const auto cycles = [](uint32_t length) {
    std::string body = "  ld.global.f32 %f1, [%rd3];\n";
    for (uint32_t k = 2; k < 8; ++k) body += "  add.f32 %f" + std::to_string(k) + ", %f1, %f1;\n";
    for (uint32_t i = 0; i < length; ++i) {
      const std::string f = "%f" + std::to_string(2 + i % 6);
      body += "  add.f32 " + f + ", " + f + ", %f1;\n";
    }
    for (uint32_t k = 2; k < 8; ++k)
      body += "  st.global.f32 [%rd3], %f" + std::to_string(k) + ";\n";
    const report::RunResult r = run(body, {}, "mpu", 256);
    EXPECT_EQ(counter(r, "mpu.near"), 8 * (length + 6));
    return r.cycles;
  };
  EXPECT_EQ(cycles(1536) - cycles(768), 8 * 768 / 2);
}

TEST(MpuAlone, ACacheForOtherCoresDataAlone) {
  // One word twice, of the core itself or 1 KB further, which is the next one's; the second
  // address depends on the first load.
  const auto hits = [](const char* keep, const char* offset) {
    const std::string from = std::string("+") + offset + "];\n";
    const report::RunResult r = run("  ld.global.u32 %r2, [%rd3" + from +
                                        "  and.b32 %r3, %r2, 0;\n  mul.wide.u32 %rd2, %r3, 4;\n"
                                        "  add.s64 %rd2, %rd3, %rd2;\n  ld.global.u32 %r4, [%rd2" +
                                        from + "  setp.eq.u32 %p1, %r4, 77;\n  @%p1 trap;\n",
                                    {std::string("l1.keep=") + keep}, "ponb");
    EXPECT_EQ(counter(r, "sm.loads"), 2u);
    EXPECT_EQ(counter(r, "dram.reads") + counter(r, "sm.l1.read_hits"), 2u);
    return counter(r, "sm.l1.read_hits");
  };
  EXPECT_EQ(hits("nothing", "0") + hits("nothing", "1024"), 0u);
  EXPECT_EQ(hits("remote", "0"), 0u);
  EXPECT_EQ(hits("remote", "1024"), 1u);
  EXPECT_EQ(hits("lines", "0") + hits("lines", "1024"), 2u);
}

}  // namespace
}  // namespace nearwarp::sim
