// Which mechanisms go together, and what do those say that do not?
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "host/config/mechanism.h"
#include "host/mechanisms/coda/report/sections.h"
#include "tests/mechanisms/same_results.h"

namespace nearwarp::testing::combinations_test {
namespace {

using Keys = std::vector<std::string>;

/// Mechanisms together, on a machine that has what they need.
struct Together {
  std::string mechanisms;  ///< policy.mechanism
  std::string machine, policy;
  Keys keys;

  Keys all_keys() const {
    Keys all = keys;
    all.push_back("policy.mechanism=" + mechanisms);
    return all;
  }
  config::MachineConfig the_machine() const { return config::load_machine(machine, all_keys()); }
  config::PolicyConfig the_policy() const { return config::load_policy(policy, all_keys()); }
};

// The combinations that run, as in configs/experiments/combinations.toml.
const std::vector<Together>& that_run() {
  static const std::vector<Together> all = {
      {"tom+opportunistic", "tom", "ndp-controlled-bmap", {"tlb.entries=0"}},
      {"tom+coda", "tom", "ndp-controlled-bmap", {"policy.mapping=cgp"}},
      {"tuning+opportunistic", "tom", "tuned", {"tlb.entries=0", "policy.mapping=oracle"}},
      {"tuning+coda", "pim-tuning", "tuned", {"policy.mapping=coda"}},
      {"opportunistic+coda", "opportunistic", "omni-compute", {"policy.mapping=cgp"}},
      {"opportunistic+coda",
       "coda",
       "llc-compute",
       {"tlb.entries=0", "policy.mapping=coda", "dispatch.groups=4"}},
      {"mpu+coda", "mpu", "mpu-pages", {}},
      {"tom+opportunistic+coda",
       "tom",
       "ndp-controlled-bmap",
       {"tlb.entries=0", "policy.mapping=cgp"}},
      // Mappings that are learnt.
      {"tom+opportunistic", "tom", "tom", {"tlb.entries=0"}},
      {"tuning+opportunistic", "tom", "tuned-tmap", {"tlb.entries=0"}},
  };
  return all;
}

/// Pairs that are refused, and parts of the message.
const std::map<std::string, std::pair<Together, std::vector<std::string>>>& that_do_not() {
  static const std::map<std::string, std::pair<Together, std::vector<std::string>>> all = {
      {"tom+tuning",
       {{"tom+tuning", "tom", "tuned", {}},
        {"'tom' claims the warps at the beginnings of blocks of code", "and so does 'tuning'"}}},
      {"opportunistic+mpu",
       {{"opportunistic+mpu", "mpu", "mpu", {}},
        {"'opportunistic' claims the accesses of an SM's warps", "and so does 'mpu'"}}},
      {"tom+mpu",
       {{"tom+mpu", "mpu", "ndp-controlled-bmap", {"mpu.collectors=4"}},
        {"'tom' needs memory stacks that can compute", "machine.shape is \"near_bank\"",
         "'mpu' needs cores below banks of their own"}}},
      {"tuning+mpu",
       {{"tuning+mpu", "pim-tuning", "tuned", {}},
        {"'mpu' needs cores below banks of their own", "machine.shape is \"stacked\"",
         "'tuning' needs memory stacks that can compute"}}},
  };
  return all;
}

report::RunResult run(const Together& t, const std::string& name, uint64_t limit = 0,
                      const sim::SimOptions& options = {}) {
  return sim::replay_on_cpu(workload(name, limit), t.the_machine(), t.the_policy(), options);
}

std::string error(const Together& t) {
  try {
    run(t, "kmeans", 100'000);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

uint64_t value(const report::RunResult& r, const std::string& name) {
  return report::counter_value(r, name);
}

TEST(Combinations, EveryPairRunsOrSaysWhyNot) {
  std::set<std::string> runs;
  for (const Together& t : that_run()) runs.insert(t.mechanisms);
  const auto all = config::declared_mechanisms();
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t k = i + 1; k < all.size(); ++k) {
      const auto pair = std::string(all[i]->name) + "+" + std::string(all[k]->name);
      const auto refused = that_do_not().find(pair);
      EXPECT_NE(runs.contains(pair), refused != that_do_not().end()) << pair;
      if (refused == that_do_not().end()) continue;
      const std::string text = error(refused->second.first);
      for (const std::string& part : refused->second.second)
        EXPECT_NE(text.find(part), std::string::npos) << pair << ": " << text;
    }
}

TEST(Combinations, OffloadingOnPagesInStacks) {
  const Together pages = that_run()[1];
  const report::RunResult both = run(pages, "kmeans"),
                          alone = run({"tom", "tom", "ndp-controlled-bmap", {}}, "kmeans");
  // Both mechanisms work: pages are placed in stacks, and blocks of code are offloaded to these.
  EXPECT_GT(value(both, "pages.cgp"), 0u);
  EXPECT_EQ(value(alone, "pages.cgp"), 0u);
  EXPECT_GT(both.offloaded_thread_instructions, 0u);
  EXPECT_EQ(both.warp_instructions, alone.warp_instructions);
  EXPECT_NE(both.cycles, alone.cycles);
}

TEST(Combinations, TunedOffloadingOnObjectsPlacedForThem) {
  const report::RunResult both = run(that_run()[3], "kmeans");
  EXPECT_FALSE(coda::placed_of(both).empty());
  EXPECT_FALSE(tom::candidates_of(both).empty());
}

TEST(Combinations, BlocksOffloadedBesideChainsAtL2Slices) {
  for (const size_t which : {0u, 2u, 7u, 8u, 9u}) {
    const report::RunResult r = run(that_run()[which], "bfs-rmat");
    SCOPED_TRACE(that_run()[which].mechanisms);
    EXPECT_GT(value(r, "chains.offloaded"), 0u);
    uint64_t blocks = 0;
    for (const tom::CandidateRow& c : tom::candidates_of(r)) {
      blocks += c.offloaded;
      EXPECT_EQ(c.instances, c.offloaded + c.refused_condition + c.refused_busy +
                                 c.refused_pending + c.no_memory_access + c.refused_shared);
    }
    EXPECT_GT(blocks, 0u);
    // Each chain that a warp on a main SM reaches counts once: stack SMs offload no chains.
    EXPECT_EQ(value(r, "chains.instances"),
              value(r, "chains.offloaded") + value(r, "chains.l1_hits") +
                  value(r, "chains.elsewhere") + value(r, "chains.full") +
                  value(r, "chains.divergent") + value(r, "chains.inactive"));
    // The energy account has terms of both.
    std::set<std::string> terms;
    for (const report::EnergyTerm& t : r.energy.terms)
      if (t.energy != 0) terms.insert(t.name);
    EXPECT_TRUE(terms.contains("chains.queues") && terms.contains("stack_sm.issue"));
  }
}

TEST(Combinations, WhileAMappingIsLearntChainsStayAtHome) {
  Together t = that_run()[8];
  const report::RunResult some = run(t, "bfs-rmat");
  EXPECT_GT(some.learning_cycles, 0u);
  EXPECT_GT(value(some, "chains.instances"), 0u);
  // If all instances are to be seen while learning, hardly any warp reaches a chain after that.
  t.keys.push_back("mapping.learning_permille=1000");
  const report::RunResult all = run(t, "bfs-rmat");
  EXPECT_GT(all.learning_cycles, all.cycles * 9 / 10);
  EXPECT_LT(value(all, "chains.instances"), value(some, "chains.instances") / 10);
}

TEST(Combinations, PagesInPartitionsBringOperandsTogether) {
  // Two arrays of the same length, page by page in the same partitions, as long as they begin in
  // the same one.
  const report::RunResult r = run(that_run()[4], "vector-add");
  EXPECT_GT(value(r, "pages.cgp"), 0u);
  EXPECT_EQ(value(r, "chains.elsewhere"), 0u);
  EXPECT_EQ(value(r, "chains.offloaded"), value(r, "chains.instances"));
}

TEST(Combinations, TheWayOfSteppingDoesNotShow) {
  constexpr uint64_t kLimit = 200'000;
  for (const Together& t : that_run()) {
    SCOPED_TRACE(t.mechanisms + " on " + t.machine);
    const auto expected = numbers(run(t, "bfs-rmat", kLimit));
    for (const Tick window : {Tick{7}, Tick{997}}) {
      sim::SimOptions o;
      o.window_ticks = window;
      o.order_seed = static_cast<uint32_t>(window);
      use_general_steps(o);
      o.threads = window == 997 ? 2 : 1;
      EXPECT_EQ(numbers(run(t, "bfs-rmat", kLimit, o)), expected) << window;
    }
  }
}

TEST(Combinations, OnADeviceAsOnTheCpu) {
  constexpr uint64_t kLimit = 50'000;
  for (const Together& t : that_run()) {
    if (t.machine == "mpu") continue;  // tests/mechanisms/mpu; the largest machine
    SCOPED_TRACE(t.mechanisms + " on " + t.machine);
    kernels::EmulationOptions emulation;
    emulation.warps_per_block = 16;
    emulation.blocks_at_once = 4;
    emulation.seed = 11;
    kernels::EmulatedDevice device(emulation);
    const config::MachineConfig machine = t.the_machine();
    const config::PolicyConfig policy = t.the_policy();
    const sim::ReplayJob job{&workload("bfs-rmat", kLimit), &machine, &policy};
    EXPECT_EQ(numbers(run_on(device, {&job, 1})[0]), numbers(run(t, "bfs-rmat", kLimit)));
  }
}

TEST(Combinations, OfOneClaimAreRefusedWithBothNamed) {
  const auto says = [](const Together& t, const std::vector<std::string>& parts) {
    const std::string text = error(t);
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says({"tom+mpu", "tom", "tom", {"mpu.collectors=4"}},
       {"(`set` policy.mechanism=tom+mpu)",
        "'tom' claims every access in the load-store unit, which it counts to learn a mapping",
        "so does 'mpu', which it sends up to the banks"});
  says({"tom+coda", "tom", "tom", {}},
       {"'tom' claims where pages lie, which it maps by consecutive address bits",
        "so does 'coda'"});
  says({"tom+opportunistic", "tom", "ndp-controlled-bmap", {"chains.ack=forwarded"}},
       {"'tom' claims the acknowledgements of stores", "so does 'opportunistic'"});
}

TEST(Combinations, WhatAMachineLacksIsSaidBesideWhatOthersNeed) {
  const std::string text = error({"tom+opportunistic", "tom", "ndp-controlled-bmap", {}});
  EXPECT_NE(text.find("policy 'ndp-controlled-bmap' on machine 'tom': 'opportunistic' needs SMs "
                      "without TLBs, and tlb.entries is 32"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("; 'tom' needs memory stacks that can compute"), std::string::npos) << text;
}

}  // namespace
}  // namespace nearwarp::testing::combinations_test
