// Are the latencies that probes find those that the machine's keys say?
#include <gtest/gtest.h>

#include "tests/probe/probing.h"

namespace nearwarp::probe {
namespace {

/// The tolerance, in cycles: a run's end is seen at ticks of other clocks, and the two runs of an
/// L1 hit have different loops, which makes some cycles in thousands of steps.
constexpr double kEnds = 0.01;

/// Overrides that make all clocks equal, so that every cycle is a core cycle.
Overrides one_clock(Overrides more = {}) {
  more.insert(more.end(),
              {"clocks.core_mhz=1000", "clocks.interconnect_mhz=1000", "clocks.l2_mhz=1000",
               "clocks.dram_mhz=1000", "dram.other_clock=keep-cycles"});
  return more;
}

TEST(ProbeLatency, L1IsTheConfiguredOne) {
  // The look-up, what stands around it, and the next instruction's issue.
  for (const uint32_t cycles : {1, 10, 35, 200}) {
    const std::string key = "l1.hit_latency_cycles=" + std::to_string(cycles);
    EXPECT_NEAR(latency({key}, "L1 hit"), cycles + 4 + 1, kEnds) << key;
    EXPECT_NEAR(latency({key, "lsu.pipeline_cycles=0"}, "L1 hit"), cycles + 1, kEnds) << key;
  }
}

TEST(ProbeLatency, SharedMemoryFollowsItsKey) {
  const double as_is = latency({}, "shared memory");
  EXPECT_NEAR(latency({"lsu.shared_latency_cycles=127"}, "shared memory"), as_is + 100, kEnds);
}

TEST(ProbeLatency, AnL2CycleMoreIsAnL2CycleMore) {
  const double as_is = latency(one_clock(), "L2 hit");
  EXPECT_DOUBLE_EQ(latency(one_clock({"l2.latency_cycles=94"}), "L2 hit") -
                       latency(one_clock({"l2.latency_cycles=84"}), "L2 hit"),
                   10);
  // A hit passes four channels.
  EXPECT_DOUBLE_EQ(latency(one_clock({"interconnect.channel_latency_cycles=26"}), "L2 hit"),
                   as_is + 40);
  EXPECT_DOUBLE_EQ(
      latency(one_clock({"interconnect.channel_latency_cycles=26"}), "atomic in the L2"),
      latency(one_clock(), "atomic in the L2") + 40);
  // L2 cycles of half the core clock are two core cycles each.
  const Overrides slow{"clocks.core_mhz=1000", "clocks.l2_mhz=500", "clocks.interconnect_mhz=1000",
                       "clocks.dram_mhz=1000", "dram.other_clock=keep-cycles"};
  Overrides more = slow;
  more.emplace_back("l2.latency_cycles=94");
  Overrides fewer = slow;
  fewer.emplace_back("l2.latency_cycles=84");
  EXPECT_DOUBLE_EQ(latency(more, "L2 hit") - latency(fewer, "L2 hit"), 20);
}

TEST(ProbeLatency, TheFarHalfOfTheL2IsALinkThereAndOneBack) {
  const std::string near = "L2 hit, near half", far = "L2 hit, far half";
  const Overrides halves = one_clock({"l2.link_latency_cycles=20"}),
                  further = one_clock({"l2.link_latency_cycles=50"});
  const double as_one = latency(one_clock(), "L2 hit");
  EXPECT_DOUBLE_EQ(latency(halves, near), as_one);
  EXPECT_DOUBLE_EQ(latency(further, near), as_one);
  EXPECT_DOUBLE_EQ(latency(further, far) - latency(halves, far), 2 * 30);
  // A far hit also passes the other half's crossbars, each as long as one of the near half's.
  EXPECT_GT(latency(halves, far), as_one + 2 * 20);
  EXPECT_DOUBLE_EQ(
      latency(one_clock({"interconnect.routing_delay_cycles=3", "l2.link_latency_cycles=20"}),
              far) -
          latency(one_clock({"interconnect.routing_delay_cycles=1", "l2.link_latency_cycles=20"}),
                  far),
      2 * 2 * 2);
  // Both halves have equally many lines.
  EXPECT_NEAR(latency(halves, "L2 hit"), (latency(halves, near) + latency(halves, far)) / 2, 3);
}

TEST(ProbeLatency, AnotherRowIsAPrechargeAndAnActivationMore) {
  const Overrides keys = one_clock({"dram.tRP=11", "dram.tRCD=13", "dram.tRAS=28", "dram.tRC=39"});
  const std::string open = "DRAM, partition 0: open row", other = "DRAM, partition 0: other row";
  EXPECT_DOUBLE_EQ(latency(keys, other) - latency(keys, open), 11 + 13);
  Overrides slow = keys;
  slow.emplace_back("dram.fixed_latency_cycles=50");
  EXPECT_DOUBLE_EQ(latency(slow, open), latency(keys, open) + 50);
}

TEST(ProbeLatency, RefreshesAreLeftOut) {
  const std::string open = "DRAM, partition 0: open row";
  EXPECT_DOUBLE_EQ(latency({"dram.tREFI=500"}, open), latency({"dram.tREFI=0"}, open));
}

TEST(ProbeLatency, AClosedRowIsNeverOpen) {
  const auto machine = config::load_machine("discrete16", Overrides{"dram.page_policy=closed"});
  EXPECT_LT(found(machine, "sm_latency", "DRAM, partition 0: open row").as_meant, 0.1);
}

TEST(ProbeLatency, APageWalkReadsTheL2) {
  const double walk = latency({}, "L1 hit after a page walk") - latency({}, "L1 hit");
  EXPECT_NEAR(walk, latency({}, "L2 hit"), 2);
  const double two = latency({"tlb.walk_accesses=2"}, "L1 hit after a page walk");
  EXPECT_NEAR(two - latency({}, "L1 hit"), 2 * walk, 2);
}

TEST(ProbeLatency, WhatAMachineLacksIsLeftOut) {
  const auto names = [](const Overrides& overrides) {
    std::string all;
    const auto machine = config::load_machine("discrete16", overrides);
    for (const Section& s : plan(machine))
      for (const Probe& p : s.probes) all += p.name + "\n";
    return all;
  };
  EXPECT_NE(names({}).find("page walk"), std::string::npos);
  EXPECT_EQ(names({"tlb.entries=0"}).find("page walk"), std::string::npos);
  EXPECT_EQ(names({"l2.bytes=65536"}).find("L2 hit"), std::string::npos);
  EXPECT_EQ(names({"dram.row_bytes=256"}).find("open row"), std::string::npos);
}

TEST(ProbeLatency, FromAStackSm) {
  const auto from = [](const char* place, const std::string& name) {
    return latency({}, name, "tom", std::string(place) + "_sm_latency");
  };
  EXPECT_NEAR(from("stack", "L1 hit"), from("main", "L1 hit"), kEnds);
  const double own = from("stack", "DRAM, own stack: open row");
  const double another = from("stack", "DRAM, another stack: open row");
  EXPECT_LT(own, another);
  EXPECT_LT(another, from("main", "DRAM, stack 0: open row"));
  // Accesses to another stack pass a link each way; accesses to the own vaults do not.
  const auto machine = config::load_machine("tom");
  const double link = 2.0 * machine.links.latency_cycles * machine.clocks.core_mhz /
                      machine.clocks.interconnect_mhz;
  EXPECT_GE(another, own + link);
}

TEST(ProbeLatency, OfPimTuningAreThoseOfItsSource) {
  const auto from = [](const char* place, const std::string& name) {
    return latency({}, name, "pim-tuning", std::string(place) + "_sm_latency");
  };
  // SM7_QV100: 193 where the L1 misses, 141 more where the L2 does (configs/machines/qv100.toml).
  EXPECT_NEAR(from("main", "L2 hit"), 193, 2);
  EXPECT_NEAR(from("main", "DRAM, anywhere") - from("main", "L2 hit"), 141.5, 5);
  EXPECT_NEAR(from("stack", "DRAM, own stack: open row") - from("stack", "L1 hit"), 141.5, 2);
}

TEST(ProbeLatency, AStackSmHasItsOwnL1AndClock) {
  const Overrides half{"stack_sm.clock_mhz=700", "clocks.core_mhz=1400"};
  EXPECT_NEAR(latency(half, "L1 hit", "tom", "stack_sm_latency"),
              2 * latency({}, "L1 hit", "tom", "stack_sm_latency"), kEnds);
}

TEST(ProbeLatency, OfNearBankUnits) {
  const auto near = [](const Overrides& keys, const std::string& name) {
    return latency(keys, name, "mpu", "near_bank_latency");
  };
  // tests/mechanisms/mpu/alone_test.cpp has what they are made of.
  EXPECT_DOUBLE_EQ(near({}, "register moved up to the banks"), 10);
  EXPECT_DOUBLE_EQ(near({}, "register moved down"), 11);
  const double addition = near({}, "near-bank addition, to its commit");
  EXPECT_DOUBLE_EQ(addition, 10);
  const double load = near({}, "offloaded load");
  // Ten core cycles more on each of the TSVs' wires: two of them each way.
  const Overrides longer{"near_bank.tsv_latency_cycles=21"};
  EXPECT_DOUBLE_EQ(near(longer, "register moved up to the banks"), 10 + 20);
  EXPECT_DOUBLE_EQ(near(longer, "register moved down"), 11 + 40);
  EXPECT_DOUBLE_EQ(near(longer, "near-bank addition, to its commit"), addition + 40);
  EXPECT_NEAR(near(longer, "offloaded load"), load + 40, 1);
  // A machine of other shape has none.
  for (const Section& s : plan(config::load_machine("tom")))
    EXPECT_EQ(s.id.find("near_bank"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::probe
