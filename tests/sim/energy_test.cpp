// Do whole runs count what the energy account needs, and is nothing charged twice or left out?
#include <gtest/gtest.h>

#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using report::EnergyPart;
using report::EnergyTerm;
using testing::counter;
using testing::PtxDevice;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kFewSms = {"gpu.sms=4", "gpu.sms_with_ndp=4"};

bool has_counter(const report::RunResult& r, const std::string& name) {
  for (const report::Counter& c : r.counters)
    if (c.name == name) return true;
  return false;
}

uint64_t energy(const report::RunResult& r, const std::string& name) {
  for (const EnergyTerm& t : r.energy.terms)
    if (t.name == name) return static_cast<uint64_t>(t.energy);
  ADD_FAILURE() << "no term " << name;
  return 0;
}

/// 20 of a warp's 32 threads add, multiply and store.
constexpr const char* kPartial = R"(
.visible .entry partial(.param .u64 p)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  cvt.rn.f32.u32 %f1, %r1;
  setp.ge.u32 %p1, %r1, 20;
  @%p1 bra done;
  fma.rn.f32 %f2, %f1, %f1, %f1;
  st.global.f32 [%rd3], %f2;
done:
  ret;
}
)";

TEST(EnergyOfRuns, CountsActiveLanesAndRegisters) {
  PtxDevice d(kPartial);
  const runtime::DevicePtr p = d.device.allocate(128, "p");
  d.device.launch(d.module, "partial", {1}, {32}, 0, runtime::KernelArgs(p));
  const report::RunResult r = simulate(d.record(), "baseline");
  EXPECT_EQ(counter(r, "sm.lanes.constant"), 32u);          // ld.param
  EXPECT_EQ(counter(r, "sm.lanes.integer_multiply"), 32u);  // mul.wide
  EXPECT_EQ(counter(r, "sm.lanes.integer"), 3 * 32u);       // mov, add, setp
  EXPECT_EQ(counter(r, "sm.lanes.fp32"), 32u + 20);         // cvt and fma
  EXPECT_EQ(counter(r, "sm.lanes.memory"), 20u);
  EXPECT_EQ(counter(r, "sm.lanes.fp64"), 0u);
  // mul.wide 1, add 4, cvt 1, setp 1 of all lanes; fma 3, st 3 of 20.
  EXPECT_EQ(counter(r, "sm.register_reads"), 7 * 32u + 6 * 20);
  // ld.param 2, mov 1, mul.wide 2, add 2, cvt 1; fma 1.
  EXPECT_EQ(counter(r, "sm.register_writes"), 8 * 32u + 20);
  EXPECT_EQ(energy(r, "sm.fp32"), 52u * 26'200);
  EXPECT_EQ(energy(r, "sm.issue"), counter(r, "sm.issued") * 70'000);
}

TEST(EnergyOfRuns, ClassesAreAllInstructions) {
  for (const char* policy : {"baseline", "ndp-uncontrolled-bmap"}) {
    const report::RunResult r = simulate(workload("kmeans", 200'000), policy, kFewSms);
    for (const std::string sm : {"sm.", "stack_sm."}) {
      if (!has_counter(r, sm + "issued")) continue;
      uint64_t lanes = 0;
      for (const report::Counter& c : r.counters)
        if (c.name.rfind(sm + "lanes.", 0) == 0) lanes += c.value;
      EXPECT_EQ(lanes, counter(r, sm + "issued_threads")) << policy << " " << sm;
    }
  }
}

TEST(EnergyOfRuns, LinksAreBusyOrIdle) {
  const report::RunResult r =
      simulate(workload("kmeans", 200'000), "ndp-uncontrolled-bmap", kFewSms);
  // A tick is 1/140 ns. A direction has 40 GB/s (half of 80), 320/140 bits in a tick. Idle and busy
  // ticks make up the run, rounded down for each link.
  const uint64_t ticks = r.cycles * 100;
  for (const char* name : {"link.gpu_to_memory", "link.memory_to_gpu"}) {
    const uint64_t busy = counter(r, std::string(name) + ".busy_ticks");
    const uint64_t idle = counter(r, std::string(name) + ".idle_bits");
    const uint64_t expected = (4 * ticks - busy) * 320 / 140;
    EXPECT_LE(idle, expected) << name;
    EXPECT_GE(idle + 4, expected) << name;
  }
  // There are twelve cross-stack links of 20 GB/s, with two virtual channels each.
  const uint64_t busy = counter(r, "link.memory_to_memory.busy_ticks");
  EXPECT_GT(busy, 0u);
  const uint64_t expected = (12 * ticks - busy) * 160 / 140;
  EXPECT_LE(counter(r, "link.memory_to_memory.idle_bits"), expected);
  EXPECT_GE(counter(r, "link.memory_to_memory.idle_bits") + 12, expected);
}

TEST(EnergyOfRuns, CrossStackLinksAreOffWithoutStackSms) {
  const report::RunResult r = simulate(workload("kmeans", 200'000), "baseline", kFewSms);
  EXPECT_FALSE(has_counter(r, "link.memory_to_memory.idle_bits"));
  EXPECT_FALSE(has_counter(r, "stack_sm.powered_cycles"));
  EXPECT_GT(energy(r, "links.gpu_to_memory.idle"), 0u);
}

TEST(EnergyOfRuns, TransfersAreTheTraffic) {
  const report::RunResult r =
      simulate(workload("kmeans", 200'000), "ndp-uncontrolled-bmap", kFewSms);
  EXPECT_EQ(energy(r, "links.gpu_to_memory.transfer"), r.traffic.gpu_to_memory_bytes * 8 * 2000);
  EXPECT_EQ(energy(r, "links.memory_to_gpu.transfer"), r.traffic.memory_to_gpu_bytes * 8 * 2000);
  EXPECT_EQ(energy(r, "links.memory_to_memory.transfer"),
            r.traffic.memory_to_memory_bytes * 8 * 2000);
}

TEST(EnergyOfRuns, ComponentsLeakForTheWholeRun) {
  const report::RunResult r =
      simulate(workload("kmeans", 200'000), "ndp-uncontrolled-bmap", kFewSms);
  EXPECT_EQ(counter(r, "sm.powered_cycles"), 4 * r.cycles);
  EXPECT_EQ(counter(r, "stack_sm.powered_cycles"), 4 * r.cycles);
  EXPECT_EQ(counter(r, "l2.powered_cycles"), 16 * r.cycles);
  EXPECT_EQ(counter(r, "dram.powered_cycles"), 64 * r.cycles);
}

TEST(EnergyOfRuns, EveryTermFindsAllItsCounters) {
  const report::RunResult r = simulate(workload("kmeans", 200'000), "tom", kFewSms);
  for (const EnergyTerm& t : r.energy.terms) {
    size_t expected = 1;
    if (t.name.ends_with("tlb.lookup") || t.name.ends_with("l1.write") || t.name == "dram.tsv" ||
        t.name == "l2.read")
      expected = 2;
    if (t.name.ends_with("l1.lookup") || t.name == "l2.write") expected = 3;
    if (t.name == "l2.lookup") expected = 4;
    EXPECT_EQ(t.counters.size(), expected) << t.name;
  }
  EXPECT_EQ(r.energy.terms.size(), 71u);
}

TEST(EnergyOfRuns, FlitsAreChargedByHops) {
  struct Network {
    const char* topology;
    uint64_t routers;  ///< routers on every flit's way; 0: it depends on the way
  };
  for (const Network& n : {Network{"switch", 1}, {"crossbar", 1}, {"butterfly", 2}, {"mesh", 0}}) {
    SCOPED_TRACE(n.topology);
    std::vector<std::string> changes = kFewSms;
    changes.push_back(std::string("interconnect.topology=") + n.topology);
    const report::RunResult r = simulate(workload("kmeans", 50'000), "baseline", changes);
    const uint64_t flits = counter(r, "noc.flits"), hops = counter(r, "noc.flit_hops"),
                   links = counter(r, "noc.flit_links");
    // A flit is 40 bytes; a packet's last one may be partly empty.
    const uint64_t bytes = counter(r, "noc.from_sms.bytes") + counter(r, "noc.to_sms.bytes");
    const uint64_t packets = counter(r, "noc.from_sms.packets") + counter(r, "noc.to_sms.packets");
    EXPECT_GE(flits * 40, bytes);
    EXPECT_LT(flits * 40, bytes + packets * 40);
    EXPECT_EQ(hops, flits + links) << "a way is a router longer than wires between routers";
    if (n.routers != 0) {
      EXPECT_EQ(hops, n.routers * flits);
    } else {
      EXPECT_GT(hops, flits);
    }
    EXPECT_EQ(energy(r, "network.routers"), hops * 320 * 336);
    EXPECT_EQ(energy(r, "network.router_wires"), links * 320 * 484);
    bool has_sm_wires = false;
    for (const EnergyTerm& t : r.energy.terms) has_sm_wires |= t.name == "network.sm_wires";
    EXPECT_EQ(has_sm_wires, n.routers != 0);
    if (has_sm_wires) {
      EXPECT_EQ(energy(r, "network.sm_wires"), flits * 320 * 1211);
    }
    EXPECT_EQ(energy(r, "network.port_wires"), counter(r, "noc.port_bytes") * 8 * 605);
    EXPECT_EQ(energy(r, "network.stacks"), counter(r, "stack.switch_bytes") * 8 * 941);
  }
}

TEST(EnergyOfRuns, PartialRunsHaveTheirPart) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  const report::RunResult whole = simulate(recording, "baseline", kFewSms);
  std::vector<std::string> changes = kFewSms;
  changes.push_back("run.max_cycles=" + std::to_string(whole.cycles / 2));
  const report::RunResult part = simulate(recording, "baseline", changes);
  ASSERT_TRUE(part.partial);
  for (size_t i = 0; i < report::kNumEnergyParts; ++i) {
    const auto k = static_cast<EnergyPart>(i);
    EXPECT_GT(part.energy.part(k), 0) << report::energy_part_name(k);
    EXPECT_LT(part.energy.part(k), whole.energy.part(k)) << report::energy_part_name(k);
  }
}

}  // namespace
}  // namespace nearwarp::sim
