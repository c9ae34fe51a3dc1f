// Do the SMs' cycles, counted by their uses, add up to the cycles of the run and of each kernel?
#include <gtest/gtest.h>

#include "tests/sim/whole_machine.h"

namespace nearwarp::testing {
namespace {

using report::SmCycles;

report::RunResult run(const std::string& name, const std::string& machine,
                      const std::string& policy, const std::vector<std::string>& overrides = {}) {
  return sim::replay_on_cpu(workload(name), config::load_machine(machine, overrides),
                            config::load_policy(policy, overrides), {});
}

class Conservation
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(Conservation, EveryCycleOfEverySmCountsOnce) {
  const auto& [name, machine, policy] = GetParam();
  const report::RunResult r = run(name, machine, policy);
  ASSERT_FALSE(r.sm_cycles.empty());
  for (const SmCycles& c : r.sm_cycles) {
    EXPECT_EQ(c.total(), r.cycles * c.count) << c.sms;
    EXPECT_LE(c.warp_cycles, c.total() * c.capacity) << c.sms;
    EXPECT_EQ(c.uses[report::kIssued], counter(r, c.sms + ".cycles.issued"));
  }
  // The kernels' cycles add up to those of the run, save cycles without a warp.
  for (const SmCycles& all : r.sm_cycles) {
    auto sums = all.uses;
    for (const SmCycles& k : r.kernel_cycles) {
      if (k.sms != all.sms) continue;
      uint64_t cycles = 0;
      for (const report::KernelRow& row : r.kernels)
        if (row.kernel == k.kernel) cycles += row.cycles;
      EXPECT_EQ(k.total(), cycles * k.count) << k.kernel;
      for (size_t i = 0; i < sums.size(); ++i) sums[i] -= k.uses[i];
    }
    for (size_t i = 0; i < sums.size(); ++i)
      if (i != report::kNoWarp) {
        EXPECT_EQ(sums[i], 0u) << all.sms << " " << report::kCycleUses[i].name;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, Conservation,
                         ::testing::Values(std::tuple{"kmeans", "tom", "baseline"},
                                           std::tuple{"libor", "tom", "tom"},
                                           std::tuple{"libor", "tom", "ndp-ideal"},
                                           std::tuple{"vector-add", "gtx480", "baseline"},
                                           std::tuple{"triad", "opportunistic", "llc-compute"},
                                           std::tuple{"vector-add", "mpu", "mpu"},
                                           std::tuple{"vector-add", "coda", "coda-steal"},
                                           std::tuple{"libor", "pim-tuning", "tuned"}));

TEST(SmCyclesOfRuns, SmsThatIssueInACycleAreThoseThatCountIt) {
  for (const char* policy : {"baseline", "ndp-controlled-bmap"}) {
    const report::RunResult r = run("reduction", "tom", policy);
    EXPECT_EQ(counter(r, "sm.cycles.issued"), counter(r, "sm.active_cycles"));
  }
}

TEST(SmCyclesOfRuns, APartialRunCountsUpToItsEnd) {
  const report::RunResult r = run("libor", "tom", "ndp-uncontrolled-bmap", {"run.max_cycles=3000"});
  ASSERT_TRUE(r.partial);
  for (const SmCycles& c : r.sm_cycles) EXPECT_EQ(c.total(), 3000 * c.count) << c.sms;
}

TEST(SmCyclesOfRuns, WarpsThatAreOffloadedWaitForThat) {
  const report::RunResult r = run("libor", "tom", "ndp-uncontrolled-bmap");
  EXPECT_GT(counter(r, "sm.cycles.offload"), 0u);
  EXPECT_EQ(counter(r, "stack_sm.cycles.offload"), 0u);
  const report::RunResult home = run("libor", "tom", "baseline");
  EXPECT_EQ(counter(home, "sm.cycles.offload"), 0u);
  EXPECT_EQ(counter(home, "sm.cycles.mechanism"), 0u);
}

TEST(SmCyclesOfRuns, WiresBetweenRoutersCarryWhatRoutersForward) {
  for (const char* machine : {"opportunistic", "mpu"}) {
    const report::RunResult r = run("triad", machine, "baseline");
    ASSERT_FALSE(r.networks.empty()) << machine;
    uint64_t flits = 0;
    for (const report::RouterNetwork& n : r.networks) {
      EXPECT_EQ(n.routers, n.width * n.height);
      for (const report::RouterWire& w : n.wires) {
        flits += w.flits;
        const auto apart = [&](uint32_t a, uint32_t b) { return a > b ? a - b : b - a; };
        EXPECT_EQ(apart(w.from % n.width, w.to % n.width) + apart(w.from / n.width, w.to / n.width),
                  1u);
        EXPECT_LE(w.flits, n.cycles);
      }
    }
    EXPECT_GT(flits, 0u);
    if (std::string(machine) == "opportunistic") {
      EXPECT_EQ(flits, counter(r, "noc.flit_links"));
    }
  }
}

}  // namespace
}  // namespace nearwarp::testing
