// Are the bandwidths that probes find within what the machine's wires and buses carry?
#include <gtest/gtest.h>

#include "tests/probe/probing.h"

namespace nearwarp::probe {
namespace {

double bandwidth(const config::MachineConfig& machine, const std::string& section,
                 const std::string& name) {
  return found(machine, section, name).gigabytes_per_second(machine.clocks.core_mhz);
}

TEST(ProbeBandwidth, BoundsAreTheNarrowestPart) {
  Way way;
  way.wires(10, "wire").bus(15, "bus");
  EXPECT_EQ(way.bound(Flow::kRead).part, "wire");
  EXPECT_EQ(way.bound(Flow::kWrite).gigabytes_per_second, 10);
  // Wires carry as much in the other direction, a bus does not.
  EXPECT_EQ(way.bound(Flow::kCopy).part, "bus");
  EXPECT_EQ(way.bound(Flow::kCopy).gigabytes_per_second, 15);
  EXPECT_EQ(Way().bound(Flow::kRead).gigabytes_per_second, 0);
}

TEST(ProbeBandwidth, BoundsOfTheMachineOfTom) {
  const auto m = config::load_machine("tom");
  const Bound reads = way_to_memory(m, m.gpu.sms).bound(Flow::kRead);
  EXPECT_EQ(reads.part, "off-chip links");
  EXPECT_DOUBLE_EQ(reads.gigabytes_per_second, 160);  // TOM, table 1: 320 with the other direction
  EXPECT_DOUBLE_EQ(
      way_to_memory(config::load_machine("tom", Overrides{"links.directions=each"}), m.gpu.sms)
          .bound(Flow::kRead)
          .gigabytes_per_second,
      320);
  EXPECT_DOUBLE_EQ(way_to_own(m, 4, 4).bound(Flow::kRead).gigabytes_per_second, 640);
  EXPECT_DOUBLE_EQ(way_to_other(m, 1, 1).bound(Flow::kRead).gigabytes_per_second, 20);
  EXPECT_DOUBLE_EQ(way_to_l1(m, 1).bound(Flow::kRead).gigabytes_per_second, 179.2);
  // Each group of four SMs shares a port.
  EXPECT_DOUBLE_EQ(way_to_l2(m, 4).bound(Flow::kRead).gigabytes_per_second, 50);
  EXPECT_DOUBLE_EQ(way_to_l2(m, 5).bound(Flow::kRead).gigabytes_per_second, 100);
}

TEST(ProbeBandwidth, OfAllPartsOfASmallMachine) {
  const auto machine = config::load_machine(
      "tom", Overrides{"gpu.sms=8", "gpu.sms_with_ndp=8", "links.gpu_to_memory_mbps=10000"});
  for (const Section& section : plan(machine)) {
    if (section.latencies) continue;
    const Findings findings = measured(machine, {section});
    for (size_t i = 0; i < section.probes.size(); ++i) {
      const Probe& probe = section.probes[i];
      const Finding& f = findings[0][i].value();
      const double share =
          f.gigabytes_per_second(machine.clocks.core_mhz) / probe.bound.gigabytes_per_second;
      EXPECT_LE(share, 1) << probe.name;
      EXPECT_GT(share, 0.05) << probe.name;
      EXPECT_GT(f.as_meant, 0.98) << probe.name;
      // Slow links bound the main SMs, whatever lies behind them: a line of 128 bytes has a header
      // of 8.
      if (probe.name == "all: DRAM read" || probe.name == "all: DRAM write") {
        EXPECT_EQ(probe.bound.part, "off-chip links");
        EXPECT_NEAR(share, 128. / 136, 0.03) << probe.name;
      }
    }
  }
}

TEST(ProbeBandwidth, TheLinkOfTheL2sHalvesIsFull) {
  const auto machine =
      config::load_machine("discrete16", Overrides{"l2.link_latency_cycles=20", "l2.link_bytes=4"});
  for (const char* what : {"all: L2 read", "one alone: L2 read"}) {
    const Probe probe = only(machine, "bandwidth", what).probes.at(0);
    EXPECT_EQ(probe.bound.part, "link of the L2's halves");
    const double share = bandwidth(machine, "bandwidth", what) / probe.bound.gigabytes_per_second;
    EXPECT_LE(share, 1) << what;
    EXPECT_GT(share, 0.8) << what;
  }
}

TEST(ProbeBandwidth, NarrowTsvsAreFull) {
  const auto machine = config::load_machine("tom", Overrides{"stack.tsv_mbps=1000"});
  for (const char* what : {"all: own vaults, read", "one alone: own vaults, read"}) {
    const Probe probe = only(machine, "stack_sm_bandwidth", what).probes.at(0);
    const double share =
        bandwidth(machine, "stack_sm_bandwidth", what) / probe.bound.gigabytes_per_second;
    EXPECT_LE(share, 1) << what;
    EXPECT_GT(share, 0.75) << what;
  }
}

TEST(ProbeBandwidth, OneOfFourStackSmsHasAFourth) {
  const auto machine = config::load_machine("tom");
  const double all = bandwidth(machine, "stack_sm_bandwidth", "all: own vaults, read");
  const double one = bandwidth(machine, "stack_sm_bandwidth", "one alone: own vaults, read");
  EXPECT_NEAR(all, 4 * one, 0.1 * all);
}

TEST(ProbeBandwidth, SmsInStacksFindTheirOwnVaults) {
  const auto machine = config::load_machine("coda", Overrides{"links.memory_to_memory_mbps=1000"});
  // Links that slow would show at once.
  EXPECT_GT(bandwidth(machine, "bandwidth", "all: own vaults, read"), 100);
  const double other = bandwidth(machine, "bandwidth", "all: another stack's, read");
  EXPECT_LE(other, 4);
  EXPECT_GT(other, 3);
}

TEST(ProbeBandwidth, CoresFindTheirOwnBanks) {
  const auto machine = config::load_machine("mpu", Overrides{"links.memory_to_memory_mbps=100"});
  EXPECT_GT(bandwidth(machine, "bandwidth", "all: own banks, read"), 1000);
  EXPECT_GT(bandwidth(machine, "bandwidth", "one alone: own banks, read"), 8);
}

TEST(ProbeBandwidth, NearBankUnitsPassTheTsvs) {
  const auto machine = config::load_machine("mpu");
  const Section section = only(machine, "near_bank_bandwidth", "all: own units, read");
  const Finding f = measured(machine, {section}).at(0).at(0).value();
  EXPECT_EQ(f.as_meant, 1);
  const double reached = f.gigabytes_per_second(machine.clocks.core_mhz);
  // Section II of the paper: ten times what TSVs carry; here four times.
  EXPECT_NEAR(section.probes.at(0).bound.gigabytes_per_second, 8192, 1);
  EXPECT_EQ(section.probes.at(0).bound.part, "banks");
  EXPECT_LE(reached, 8192);
  EXPECT_GT(reached, 2 * 2048);
}

TEST(ProbeBandwidth, WithoutACacheNothingHits) {
  const auto has = [](const char* name, const Overrides& keys) {
    for (const Section& s : plan(config::load_machine(name, keys)))
      for (const Probe& p : s.probes)
        if (p.name.find("L1") != std::string::npos) return true;
    return false;
  };
  EXPECT_FALSE(has("mpu", {}));
  EXPECT_TRUE(has("mpu", {"l1.keep=lines"}));
  EXPECT_TRUE(has("tom", {}));
}

}  // namespace
}  // namespace nearwarp::probe
