// Does the whole machine pass its gates: does each resource reach its share, and does an unloaded
// access take the sum of its parts? Kernels are small PTX texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "device/core/address_map.h"
#include "host/functional/instructions/decoded.h"
#include "host/timing/machine/system.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using config::MachineConfig;
using testing::counter;
using testing::PtxDevice;

// --- unloaded latency ---

/// Ticks from tick to tick through an idle machine, hop by hop. Every component acts at its own
/// clock's next edge; a channel takes its latency after the last byte.
struct Path {
  const MachineConfig& m;
  Tick base, core, icnt, l2, dram;

  explicit Path(const MachineConfig& machine)
      : m(machine),
        base(config::base_mhz(machine)),
        core(base / machine.clocks.core_mhz),
        icnt(base / machine.clocks.interconnect_mhz),
        l2(base / machine.clocks.l2_mhz),
        dram(base / machine.clocks.dram_mhz) {}

  static Tick up(Tick t, Tick period) { return (t + period - 1) / period * period; }
  Tick wire(uint64_t bytes, uint64_t mbps) const { return (bytes * base + mbps - 1) / mbps; }
  /// A port moves a flit per cycle; the packet is there with its last one.
  Tick flits(uint32_t bytes, uint32_t flit) const { return ((bytes + flit - 1) / flit - 1) * icnt; }
  /// Through a crossbar: the one-stage switch, or a router with a wire before and behind it, each
  /// of which takes a cycle to write and one to cross.
  Tick crossbar(Tick t, uint32_t bytes) const {
    const auto& x = m.interconnect;
    t = up(t, icnt) + flits(bytes, x.flit_bytes);
    if (x.topology == "switch") return t;
    const uint32_t allocations = 2 / x.internal_speedup;  // the last one's cycle is the traversal's
    return t + (2 + x.routing_delay_cycles + allocations - 1 + 1 + 2) * icnt;
  }
  Tick hop() const { return m.interconnect.channel_latency_cycles * icnt; }
  Tick link() const { return m.links.latency_cycles * icnt; }
  Tick in_stack() const { return m.stack.switch_latency_cycles * icnt; }

  /// Arrival at the SM of the reply to a read that the SM sends at `t`.
  Tick read(Tick t, bool in_l2) const {
    const uint32_t header = m.packets.header_bytes, line = m.l1.line_bytes;
    const uint32_t reply = header + line;
    t += m.l1.miss_latency_cycles * core;              // the L1
    t = crossbar(t + hop(), header) + hop();           // request crossbar
    t = up(t, l2) + m.l2.latency_cycles * l2 + hop();  // slice
    if (!in_l2) {
      t = up(t, icnt) + wire(header, m.links.one_way(m.links.gpu_to_memory_mbps)) +
          link();                    // link port, TX
      t = up(t, icnt) + in_stack();  // the stack's switch
      t = up(t, dram) + (1 + m.dram.tRCD + m.dram.tCL) * dram + wire(line, m.stack.tsv_mbps);
      t = up(t, dram) + m.dram.fixed_latency_cycles * dram + in_stack();  // vault: a closed bank
      t = up(t, icnt) +
          std::max(wire(reply, m.links.one_way(m.links.gpu_to_memory_mbps)),
                   flits(reply, m.stack.switch_flit_bytes)) +
          link();               // the stack's switch, RX
      t = up(t, icnt) + hop();  // link port
      t = up(t, l2) + hop();    // slice: the fill goes through at once
    }
    return crossbar(t, reply) + hop();  // reply crossbar
  }
};

/// A chain of `n` dependent loads by one thread, from `p` on.
std::string chase_kernel(uint32_t n) {
  std::string text =
      ".visible .entry chase(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n";
  for (uint32_t i = 0; i < n; ++i) text += "ld.global.u64 %rd1, [%rd1];\n";
  return text + "ret;\n}\n";
}

/// `lines` of the memory are linked in a ring, `stride` lines apart; the chain has `n` loads.
runtime::Recording chase(uint32_t lines, uint32_t stride, uint32_t n) {
  PtxDevice d(chase_kernel(n));
  const runtime::DevicePtr p = d.device.allocate(uint64_t{lines} * stride * 128, "ring");
  for (uint32_t i = 0; i < lines; ++i) {
    const uint64_t next = p + uint64_t{(i + 1) % lines} * stride * 128;
    d.device.copy_to_device(p + uint64_t{i} * stride * 128, &next, 8);
  }
  d.device.launch(d.module, "chase", {1}, {1}, 0, runtime::KernelArgs(p));
  return d.record();
}

std::vector<std::vector<std::string>> clock_sets() {
  return {{},  // as in the paper
          {"interconnect.topology=switch"},
          {"interconnect.internal_speedup=1", "interconnect.routing_delay_cycles=3"},
          {"clocks.core_mhz=1000", "clocks.interconnect_mhz=1000", "clocks.l2_mhz=1000",
           "clocks.dram_mhz=1000", "dram.other_clock=keep-cycles"}};
}

TEST(UnloadedLatency, L1HitIsOneCycleAndTheHitLatency) {
  const auto cycles = [](uint32_t n) {
    return testing::simulate(chase(1, 1, n), "baseline").kernels.at(0).cycles;
  };
  const MachineConfig m = config::load_machine("tom");
  // To the load-store unit and through the cache; a dependent load issues when the value is there.
  EXPECT_EQ(cycles(300) - cycles(200), 100 * (1 + m.lsu.pipeline_cycles + m.l1.hit_latency_cycles));
  EXPECT_EQ(cycles(300) - cycles(200), 100 * 40u) << "as in GPGPU-Sim, whose latencies these are";
}

TEST(UnloadedLatency, L2HitAndDramAreTheSumsOfTheirParts) {
  for (const auto& clocks : clock_sets()) {
    std::vector<std::string> overrides = clocks;
    overrides.push_back("dram.tREFI=60000");  // no refresh while this runs
    overrides.push_back("tlb.entries=0");
    overrides.push_back("l1.set_function=linear");
    const MachineConfig m = config::load_machine("tom", overrides);
    // A ring of lines that share an L1 set, more than its ways: every load misses in the L1, those
    // of the first lap in the L2 too.
    const uint32_t sets = m.l1.bytes / (m.l1.ways * m.l1.line_bytes);
    const uint32_t lines = m.l1.ways + 4, laps = 4;
    // Far enough apart that their banks are different: every first access finds its bank closed.
    runtime::Recording recording;
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> banks;
    for (uint32_t apart = 1; banks.size() < lines; ++apart) {
      ASSERT_LT(apart, 200u);
      recording = chase(lines, apart * sets, lines * laps);
      const AddressMap map;
      const auto first =
          static_cast<LineAddr>((recording.allocations.at(0).address - exec::kDeviceBase) / 128);
      banks.clear();
      for (uint32_t i = 0; i < lines; ++i) {
        const Location at = map.locate(first + i * apart * sets);
        banks.insert({at.stack, at.vault, at.bank});
      }
    }

    // The block is launched by a control message after the host's doorbell, which takes as long;
    // a cycle later the parameter is loaded, and after that load's latency the first of the chain
    // issues. Its look-up is one cycle on.
    const Path path(m);
    const Tick control = m.gpu.control_latency_cycles * path.icnt;
    const Tick doorbell = Path::up(control, path.core);
    const uint64_t block = Path::up(doorbell + control, path.core) / path.core;
    uint64_t issue = block + 1 + m.classes.constant_load.latency_cycles + m.sm.pipeline_cycles;
    uint64_t waited = 0;
    for (uint32_t i = 0; i < lines * laps; ++i) {
      const uint64_t look_up = issue + 1;
      const Tick arrival = path.read(look_up * path.core, i >= lines);
      const uint64_t reply = Path::up(arrival, path.core) / path.core;
      waited += reply - look_up;
      issue = reply + 1;
    }
    const report::RunResult r = testing::simulate(recording, "baseline", overrides);
    EXPECT_EQ(counter(r, "sm.l1.read_misses"), lines * laps);
    EXPECT_EQ(counter(r, "l2.read_hits"), lines * (laps - 1));
    EXPECT_EQ(counter(r, "dram.row_misses"), lines);
    EXPECT_EQ(counter(r, "sm.miss_latency"), waited);
  }
}

TEST(UnloadedLatency, APageWalkIsOneReadAfterTheOther) {
  for (const auto& clocks : clock_sets()) {
    std::vector<std::string> overrides = clocks;
    overrides.push_back("dram.tREFI=60000");
    overrides.push_back("tlb.walk_accesses=3");
    const MachineConfig m = config::load_machine("tom", overrides);
    const Path path(m);
    const report::RunResult r = testing::simulate(chase(1, 1, 4), "baseline", overrides);
    EXPECT_EQ(counter(r, "sm.tlb.walks"), 1u);
    EXPECT_EQ(counter(r, "dram.row_misses"), 4u);  // closed banks all
    const Tick control = m.gpu.control_latency_cycles * path.icnt;
    const Tick doorbell = Path::up(control, path.core);
    const uint64_t block = Path::up(doorbell + control, path.core) / path.core;
    // The first load's look-up, as above.
    const uint64_t begin =
        block + 1 + m.classes.constant_load.latency_cycles + m.sm.pipeline_cycles + 1;
    uint64_t now = begin;
    for (int i = 0; i < 3; ++i)
      now = Path::up(path.read(now * path.core, false), path.core) / path.core;
    EXPECT_EQ(counter(r, "sm.tlb.walk_cycles"), now - begin);
    EXPECT_EQ(counter(r, "sm.tlb.wait_cycles"), now - begin);
    const uint64_t data = Path::up(path.read(now * path.core, false), path.core) / path.core;
    EXPECT_EQ(counter(r, "sm.miss_latency"), data - now);
  }
}

// --- bandwidth ---

constexpr const char* kStream = R"(
.visible .entry stream(.param .u64 p, .param .u32 stride)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [stride];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  add.s64 %rd6, %rd5, %rd4;
  add.s64 %rd7, %rd6, %rd4;
  ld.global.u32 %r1, [%rd3];
  ld.global.u32 %r2, [%rd5];
  ld.global.u32 %r3, [%rd6];
  ld.global.u32 %r4, [%rd7];
  or.b32 %r6, %r1, %r2;
  or.b32 %r7, %r3, %r4;
  or.b32 %r8, %r6, %r7;
  setp.eq.u32 %p1, %r8, 0;
  @%p1 bra done;
  st.global.u32 [%rd3], %r8;
done:
  ret;
}
)";

TEST(Bandwidth, StreamingReadsFillTheRxLinks) {
  PtxDevice d(kStream);
  constexpr uint32_t kThreads = 256 * 2048;
  const runtime::DevicePtr p = d.device.allocate(uint64_t{kThreads} * 16, "data");
  d.device.fill(p, 0, uint64_t{kThreads} * 16);
  d.device.launch(d.module, "stream", {kThreads / 256}, {256}, 0, runtime::KernelArgs(p, kThreads));
  const runtime::Recording recording = d.record();
  const report::RunResult r = testing::simulate(recording, "baseline", {"tlb.entries=0"});
  const MachineConfig m = config::load_machine("tom");
  const double seconds = static_cast<double>(r.cycles) / (m.clocks.core_mhz * 1e6);
  const double rx = static_cast<double>(r.traffic.memory_to_gpu_bytes) / seconds;
  // 160 GB/s; the other half of TOM's 320 is TX's.
  const double most = m.stack.count * m.links.one_way(m.links.gpu_to_memory_mbps) * 1e6;
  EXPECT_EQ(r.traffic.memory_to_gpu_bytes, uint64_t{kThreads} * 16 / 128 * 136);
  EXPECT_GE(rx, 0.90 * most);
  EXPECT_LE(rx, most);
  // The share of the links' time is the share of their bandwidth, up to the rounding of a packet's
  // transfer to whole ticks.
  EXPECT_NEAR(r.link_use.memory_to_gpu(), rx / most, 0.002);
  const double tx = static_cast<double>(r.traffic.gpu_to_memory_bytes) / seconds;
  EXPECT_NEAR(r.link_use.gpu_to_memory(), tx / most, 0.002);
  EXPECT_EQ(r.link_use.higher(), r.link_use.memory_to_gpu());
  // Links whose directions each have it all: twice the speed, until something else is full.
  const report::RunResult each =
      testing::simulate(recording, "baseline", {"links.directions=each", "tlb.entries=0"});
  EXPECT_NEAR(static_cast<double>(r.cycles) / static_cast<double>(each.cycles), 2.0, 0.15);
  // Half the links, half the speed.
  const report::RunResult half =
      testing::simulate(recording, "baseline", {"links.gpu_to_memory_mbps=40000", "tlb.entries=0"});
  EXPECT_NEAR(static_cast<double>(half.cycles) / static_cast<double>(r.cycles), 2.0, 0.15);
}

constexpr const char* kFma = R"(
.visible .entry fma_loop(.param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .f32 %f<9>;
  ld.param.u32 %r1, [n];
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, %f1;
  mov.f32 %f3, %f1;
  mov.f32 %f4, %f1;
loop:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  fma.rn.f32 %f2, %f2, %f2, %f2;
  fma.rn.f32 %f3, %f3, %f3, %f3;
  fma.rn.f32 %f4, %f4, %f4, %f4;
  fma.rn.f32 %f1, %f1, %f1, %f1;
  fma.rn.f32 %f2, %f2, %f2, %f2;
  fma.rn.f32 %f3, %f3, %f3, %f3;
  fma.rn.f32 %f4, %f4, %f4, %f4;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra loop;
  ret;
}
)";

TEST(Bandwidth, RegisterLoopIssuesTwoPerSmAndCycle) {
  PtxDevice d(kFma);
  constexpr uint32_t kIterations = 300;
  d.device.launch(d.module, "fma_loop", {68 * 8}, {192}, 0, runtime::KernelArgs(kIterations));
  const runtime::Recording recording = d.record();
  // Greedy schedulers run the oldest warps to their ends, and the last ones have nothing to hide
  // latencies behind.
  const std::string fair = "sm.scheduler_policy=lrr";
  const report::RunResult r = testing::simulate(recording, "baseline", {fair});
  const MachineConfig m = config::load_machine("tom");
  const double most = 2.0 * m.gpu.sms;
  const double rate =
      static_cast<double>(r.warp_instructions) / static_cast<double>(r.kernels.at(0).cycles);
  EXPECT_GE(rate, 0.97 * most);
  EXPECT_LE(rate, most);
  // One scheduler, half of it.
  const report::RunResult one = testing::simulate(recording, "baseline", {fair, "sm.schedulers=1"});
  EXPECT_NEAR(static_cast<double>(one.cycles) / static_cast<double>(r.cycles), 2.0, 0.03);
}

constexpr const char* kIndirect = R"(
.visible .entry indirect(.param .u64 pointers)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [pointers];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 8;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u64 %rd4, [%rd3];
  ld.global.u64 %rd5, [%rd4];
  ret;
}
)";

TEST(Bandwidth, OneVaultGivesItsTsvs) {
  PtxDevice d(kIndirect);
  constexpr uint32_t kLines = 6144;
  const AddressMap map;
  const runtime::DevicePtr data = d.device.allocate(uint64_t{kLines + 64} * 64 * 128, "data");
  const auto first = static_cast<LineAddr>((data - exec::kDeviceBase) / 128);
  std::vector<uint64_t> pointers;
  for (uint32_t i = 0; pointers.size() < kLines; ++i)
    if (map.stack_of(first + i) == 1 && map.vault_of(first + i) == 5)
      pointers.push_back(data + uint64_t{i} * 128);
  const runtime::DevicePtr list = d.device.upload(pointers, "pointers");
  d.device.launch(d.module, "indirect", {kLines / 128}, {128}, 0, runtime::KernelArgs(list));
  const report::RunResult r = testing::simulate(d.record(), "baseline");
  const MachineConfig m = config::load_machine("tom");
  const double seconds = static_cast<double>(r.kernels.at(0).cycles) / (m.clocks.core_mhz * 1e6);
  const double rate = kLines * 128.0 / seconds, most = m.stack.tsv_mbps * 1e6;  // 10 GB/s
  EXPECT_GE(rate, 0.90 * most);
  EXPECT_LE(rate, most);
}

}  // namespace
}  // namespace nearwarp::sim
