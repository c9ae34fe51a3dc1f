// Whole machines with each policy of replacement in all their caches and TLBs: does the key reach
// them, and are results the same on any number of threads?
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
using testing::workload;

constexpr std::array kPolicies = {"lru", "fifo", "random", "srrip"};

report::RunResult run(const std::string& machine, const std::vector<std::string>& keys,
                      unsigned threads = 1) {
  SimOptions o;
  o.threads = threads;
  return replay_on_cpu(workload("kmeans", 400'000), config::load_machine(machine, keys),
                       config::load_policy("baseline", keys), o);
}

/// The keys of small caches, all of which replace lines by one policy.
std::vector<std::string> small_caches(const std::string& l2_bytes, const std::string& policy) {
  return {"l1.bytes=4096",
          "l1.set_function=linear",
          "l2.bytes=" + l2_bytes,
          "l1.replacement=" + policy,
          "l2.replacement=" + policy,
          "instruction_cache.replacement=" + policy,
          "constant_cache.replacement=" + policy,
          "tlb.replacement=" + policy};
}

TEST(Replacement, AnyNumberOfThreadsCountsTheSame) {
  struct Small {
    const char *machine, *l2_bytes;  // a size that the slices and ways divide
  };
  // The machines have whole lines, and sectors.
  for (const Small& small : {Small{"tom", "65536"}, {"gtx480", "98304"}, {"qv100", "393216"}}) {
    for (const char* policy : kPolicies) {
      const std::vector<std::string> keys = small_caches(small.l2_bytes, policy);
      EXPECT_EQ(numbers(run(small.machine, keys, 3)), numbers(run(small.machine, keys)))
          << small.machine << " " << policy;
    }
  }
}

TEST(Replacement, LruIsWhatMachinesHaveWithoutTheKey) {
  EXPECT_EQ(
      numbers(run("tom", {})),
      numbers(run("tom", {"l1.replacement=lru", "l2.replacement=lru", "tlb.replacement=lru"})));
}

/// Expects each policy to give another value of this counter.
void expect_all_differ(const std::string& machine, const std::string& key,
                       const std::vector<std::string>& others, const std::string& name) {
  std::set<uint64_t> values;
  for (const char* policy : kPolicies) {
    std::vector<std::string> keys = others;
    keys.push_back(key + "=" + policy);
    values.insert(counter(run(machine, keys), name));
  }
  EXPECT_EQ(values.size(), kPolicies.size()) << key;
}

TEST(Replacement, EachCacheHasItsOwn) {
  expect_all_differ("tom", "l1.replacement", {"l1.bytes=4096", "l1.set_function=linear"},
                    "sm.l1.read_misses");
  expect_all_differ("tom", "l2.replacement",
                    {"l1.bytes=4096", "l1.set_function=linear", "l2.bytes=65536"},
                    "l2.read_misses");
  expect_all_differ("tom", "tlb.replacement", {"tlb.entries=4", "tlb.page_bytes=4096"},
                    "sm.tlb.walks");
}

TEST(Replacement, AMisspelledPolicyIsRefusedWithTheChoices) {
  for (const char* key : {"l1", "l2", "tlb", "instruction_cache", "constant_cache"}) {
    try {
      config::load_machine("gtx480",
                           std::vector<std::string>{std::string(key) + ".replacement=lfu"});
      ADD_FAILURE() << key;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(std::string(key) + ".replacement"), std::string::npos);
      EXPECT_NE(std::string(e.what()).find("\"lru\" or \"fifo\" or \"random\" or \"srrip\""),
                std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace nearwarp::sim
