// Which mechanisms go together, and what do those say that do not?
#include <gtest/gtest.h>

#include <algorithm>

#include "host/core/error.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::testing::combinations_test {
namespace {

report::RunResult run(const std::string& machine, const std::string& policy,
                      const std::vector<std::string>& keys) {
  return sim::replay_on_cpu(workload("kmeans"), config::load_machine(machine, keys),
                            config::load_policy(policy, keys), {});
}

std::string error(const std::string& machine, const std::string& policy,
                  const std::vector<std::string>& keys) {
  try {
    run(machine, policy, keys);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

uint64_t counter(const report::RunResult& r, const std::string& name) {
  const auto at = std::find_if(r.counters.begin(), r.counters.end(),
                               [&](const auto& c) { return c.name == name; });
  return at == r.counters.end() ? 0 : at->value;
}

TEST(Combinations, OffloadingOnPagesInStacks) {
  const std::vector<std::string> keys = {"policy.mechanism=tom+coda", "policy.mapping=cgp"};
  const report::RunResult both = run("tom", "ndp-controlled-bmap", keys),
                          alone = run("tom", "ndp-controlled-bmap", {});
  // Each does its part: pages are in stacks, and blocks of code are offloaded to them.
  EXPECT_GT(counter(both, "pages.cgp"), 0u);
  EXPECT_EQ(counter(alone, "pages.cgp"), 0u);
  EXPECT_GT(both.offloaded_thread_instructions, 0u);
  EXPECT_EQ(both.warp_instructions, alone.warp_instructions);
  EXPECT_NE(both.cycles, alone.cycles);
  EXPECT_EQ(both.cycles, run("tom", "ndp-controlled-bmap", keys).cycles);
}

TEST(Combinations, TunedOffloadingOnObjectsPlacedForThem) {
  const report::RunResult both =
      run("pim-tuning", "tuned", {"policy.mechanism=tuning+coda", "policy.mapping=coda"});
  EXPECT_FALSE(both.placed.empty());
  EXPECT_FALSE(both.candidates.empty());
}

TEST(Combinations, OfOneDeviceCodeOrForOtherMachinesAreRefused) {
  const auto says = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  says(error("tom", "tuned", {"policy.mechanism=tuning+tom"}),
       "mechanism 'tom' runs on the same parts as another of 'tuning+tom'");
  says(error("tom", "ndp-controlled-bmap", {"policy.mechanism=tom+opportunistic"}),
       "chains are computed at the L2 slices");
  says(error("opportunistic", "llc-compute",
             {"policy.mechanism=opportunistic+coda", "policy.mapping=cgp"}),
       "it has no memory stacks");
  says(error("mpu", "mpu", {"policy.mechanism=mpu+opportunistic"}),
       "chains are computed at the L2 slices");
}

}  // namespace
}  // namespace nearwarp::testing::combinations_test
