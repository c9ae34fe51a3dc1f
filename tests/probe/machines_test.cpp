// Do probes measure what they say on every machine, the same on any number of threads?
#include <gtest/gtest.h>

#include "tests/probe/probing.h"

namespace nearwarp::probe {
namespace {

std::vector<Section> latencies_of(const config::MachineConfig& machine) {
  std::vector<Section> sections;
  for (Section& s : plan(machine))
    if (s.latencies) sections.push_back(std::move(s));
  return sections;
}

TEST(ProbeMachines, LatenciesComeFromWhereTheNamesSay) {
  for (const std::string& name : config::machine_names()) {
    const auto machine = config::load_machine(name);
    const auto sections = latencies_of(machine);
    const Findings findings = measured(machine, sections);
    for (size_t s = 0; s < sections.size(); ++s)
      for (size_t i = 0; i < sections[s].probes.size(); ++i)
        EXPECT_GE(findings[s][i].value().as_meant, 0.99)
            << name << ": " << sections[s].probes[i].name;
  }
}

TEST(ProbeMachines, WhatIsFartherTakesLonger) {
  for (const std::string& name : config::machine_names()) {
    const auto machine = config::load_machine(name);
    for (const Section& section : latencies_of(machine)) {
      const Findings findings = measured(machine, {section});
      double hit = 0, open = 0;
      for (size_t i = 0; i < section.probes.size(); ++i) {
        const std::string& what = section.probes[i].name;
        const double cycles = findings[0][i].value().latency();
        if (what == "L1 hit") hit = cycles;
        if (what == "L1 hit after a page walk" || what == "L2 hit") {
          EXPECT_GT(cycles, hit) << name;
        }
        if (what.find("open row") != std::string::npos) {
          EXPECT_GT(cycles, hit) << name << ": " << what;
          open = cycles;
        }
        if (what.find("other row") != std::string::npos) {
          EXPECT_GT(cycles, open) << name << ": " << what;
        }
      }
    }
  }
}

TEST(ProbeMachines, ThreadsMakeNoDifference) {
  for (const char* name : {"tom", "coda"}) {
    const auto machine = config::load_machine(name);
    const std::vector<Section> sections = plan(machine);
    const Findings one = measured(machine, sections, 1), three = measured(machine, sections, 3);
    for (size_t s = 0; s < sections.size(); ++s)
      for (size_t i = 0; i < sections[s].probes.size(); ++i) {
        EXPECT_EQ(one[s][i].value().cycles, three[s][i].value().cycles)
            << name << ": " << sections[s].probes[i].name;
        EXPECT_EQ(one[s][i].value().work, three[s][i].value().work);
        EXPECT_EQ(one[s][i].value().as_meant, three[s][i].value().as_meant);
      }
  }
}

TEST(ProbeMachines, ExtremesHavePlansToo) {
  const auto probes = [](const char* machine, const Overrides& overrides) {
    size_t all = 0;
    for (const Section& s : plan(config::load_machine(machine, overrides))) all += s.probes.size();
    return all;
  };
  const size_t tom = probes("tom", {});
  EXPECT_EQ(probes("tom", {"stack.count=16", "stack.sm_warps=256"}), tom);
  EXPECT_EQ(probes("tom", {"sm.warps=1", "sm.threads=32"}), tom);
  // Nothing beside the one stack, and nobody beside its SM.
  EXPECT_LT(probes("tom", {"stack.count=1"}), tom);
  EXPECT_LT(probes("discrete16", {"gpu.sms=1", "gpu.sms_per_cluster=1"}), probes("discrete16", {}));
  EXPECT_GT(probes("mpu", {"gpu.sms=1024"}), 0u);
}

TEST(ProbeMachines, AWatchStopsTheMeasurement) {
  const auto machine = config::load_machine("tom");
  const std::vector<Section> sections = plan(machine);
  size_t asked = 0;
  const Findings findings = measure(machine, sections, record, 1, [&](size_t done, size_t all) {
    EXPECT_LE(done, all);
    ++asked;
    return done < 4;
  });
  EXPECT_GT(asked, 4u);
  EXPECT_TRUE(findings.at(0).at(0).has_value());
  EXPECT_FALSE(findings.back().back().has_value());
}

TEST(ProbeMachines, ErrorsComeThrough) {
  const auto machine = config::load_machine("tom");
  const Record fails = [](const Program&) -> runtime::Recording {
    throw std::runtime_error("no recording");
  };
  EXPECT_THROW(measure(machine, plan(machine), fails, 2, [](size_t, size_t) { return true; }),
               std::runtime_error);
  EXPECT_THROW(found(config::load_machine("tom", Overrides{"run.max_cycles=1000"}),
                     "main_sm_latency", "L2 hit"),
               std::exception);
}

}  // namespace
}  // namespace nearwarp::probe
