// Are counters equal whatever the windows, the threads, the order of stepping and of lanes? Over
// all built-in workloads and policies.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "host/mechanisms/tom/report/sections.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using testing::numbers_and_times;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kPolicies = {"baseline",
                                            "ndp-ideal",
                                            "ndp-uncontrolled-bmap",
                                            "ndp-controlled-bmap",
                                            "ndp-uncontrolled-tmap",
                                            "ndp-uncontrolled-oracle",
                                            "tom",
                                            "tom-oracle"};

struct Variation {
  const char* name;
  SimOptions options;
};
std::vector<Variation> variations() {
  std::vector<Variation> v(5);
  v[0].name = "odd windows, shuffled components, code for all cases";
  v[0].options.window_ticks = 997;
  v[0].options.order_seed = 5;
  testing::use_general_steps(v[0].options);
  v[1].name = "two threads";
  v[1].options.threads = 2;
  v[2].name = "three threads, shuffled, windows of W - 1";
  v[2].options.threads = 3;
  v[2].options.window_ticks = 1791;
  v[2].options.order_seed = 77;
  v[3].name = "code for all cases";
  testing::use_general_steps(v[3].options);
  v[4].name = "short windows";
  v[4].options.window_ticks = 113;
  v[4].options.order_seed = 9;
  return v;
}

const std::vector<std::string> kVariedPolicies = {
    "baseline", "ndp-uncontrolled-bmap", "ndp-controlled-bmap", "ndp-ideal", "tom", "tom-oracle"};

size_t place(const std::vector<std::string>& in, const std::string& what) {
  return static_cast<size_t>(std::find(in.begin(), in.end(), what) - in.begin());
}

/// Two of the variations each, so that every workload and every policy meets all of them.
std::vector<Variation> variations_for(const std::string& name, const std::string& policy) {
  const std::vector<Variation> all = variations();
  const size_t first = place(testing::workload_names(), name) + place(kVariedPolicies, policy);
  return {all[first % all.size()], all[(first + 2) % all.size()]};
}

TEST(DeterminismVariations, EveryWorkloadAndEveryPolicyMeetsAll) {
  std::map<std::string, std::set<std::string>> met;
  for (const std::string& name : testing::workload_names()) {
    for (const std::string& policy : kVariedPolicies) {
      for (const Variation& v : variations_for(name, policy)) {
        met[name].insert(v.name);
        met[policy].insert(v.name);
      }
    }
  }
  for (const auto& [who, names] : met) EXPECT_EQ(names.size(), variations().size()) << who;
}

class Determinism : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Determinism, CountersAreEqual) {
  const auto& [name, policy] = GetParam();
  const runtime::Recording& recording = workload(name, 2'000'000);
  const auto expected = numbers_and_times(simulate(recording, policy));
  for (const Variation& v : variations_for(name, policy)) {
    SCOPED_TRACE(v.name);
    EXPECT_EQ(numbers_and_times(simulate(recording, policy, {}, v.options)), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, Determinism,
                         ::testing::Combine(::testing::ValuesIn(testing::workload_names()),
                                            ::testing::ValuesIn(kVariedPolicies)),
                         [](const auto& test) {
                           return testing::test_name(std::get<0>(test.param) + "_" +
                                                     std::get<1>(test.param));
                         });

/// Policies under which programs are run to their ends here. The command line's tests run all of
/// them under the three others, baseline, ndp-uncontrolled-bmap and ndp-controlled-bmap.
const std::vector<std::string> kPoliciesToTheEnd = {"ndp-ideal", "ndp-uncontrolled-tmap", "tom",
                                                    "ndp-uncontrolled-oracle", "tom-oracle"};

/// Two of them for each workload, in turn, so that each policy meets two in five.
std::vector<std::string> policies_to_the_end(const std::string& name) {
  const size_t first = place(testing::workload_names(), name), n = kPoliciesToTheEnd.size();
  return {kPoliciesToTheEnd[first % n], kPoliciesToTheEnd[(first + 2) % n]};
}

class WholeProgram : public ::testing::TestWithParam<std::string> {};

TEST_P(WholeProgram, RunsToItsEnd) {
  const runtime::Recording& recording = workload(GetParam());
  for (const std::string& policy : policies_to_the_end(GetParam())) {
    SCOPED_TRACE(policy);
    SimOptions two;
    two.threads = 2;
    const report::RunResult r = simulate(recording, policy, {}, two);  // checks conservation
    EXPECT_FALSE(r.partial);
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
    EXPECT_EQ(r.thread_instructions, recording.thread_instructions);
    // Ideal offloading may leave nothing for the links.
    if (policy != "ndp-ideal") {
      EXPECT_GT(r.traffic.total_bytes(), 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, WholeProgram, ::testing::ValuesIn(testing::workload_names()),
                         [](const auto& test) { return testing::test_name(test.param); });

// A machine small enough for windows of one tick.
const std::vector<std::string> kTiny = {"gpu.sms=4", "gpu.sms_with_ndp=4", "stack.vaults=4",
                                        "l2.slices=4"};

TEST(DeterminismTiny, WindowsOfOneTick) {
  for (const char* name : {"kmeans", "bfs-rmat", "libor"}) {
    const runtime::Recording& recording = workload(name, 30'000);
    for (const std::string& policy : kPolicies) {
      SCOPED_TRACE(name + (" " + policy));
      const auto expected = numbers_and_times(simulate(recording, policy, kTiny));
      for (const Tick window : {1, 7}) {
        SimOptions o;
        o.window_ticks = window;
        o.order_seed = window == 7 ? 3 : 0;
        EXPECT_EQ(numbers_and_times(simulate(recording, policy, kTiny, o)), expected) << window;
      }
    }
  }
}

TEST(DeterminismTiny, SeparateQueuesForReadsAndWrites) {
  std::vector<std::string> separate = kTiny;
  for (const char* change : {"dram.read_entries=6", "dram.write_entries=4",
                             "dram.write_high_watermark=3", "dram.write_low_watermark=1"})
    separate.emplace_back(change);
  for (const char* name : {"fwt", "gather"}) {
    SCOPED_TRACE(name);
    const runtime::Recording& recording = workload(name, 300'000);
    const auto expected = numbers_and_times(simulate(recording, "tom", separate));
    EXPECT_NE(expected, numbers_and_times(simulate(recording, "tom", kTiny)));
    for (const Tick window : {7, 113}) {
      SimOptions o;
      o.window_ticks = window;
      o.order_seed = 4;
      testing::use_general_steps(o);
      EXPECT_EQ(numbers_and_times(simulate(recording, "tom", separate, o)), expected) << window;
    }
  }
}

TEST(DeterminismTiny, WhereverTheLearningPhaseEnds) {
  // In the middle of kernels, at barriers, with the last instance.
  for (const char* name : {"kmeans", "bfs-rmat", "fwt", "backprop", "cfd"}) {
    const runtime::Recording& recording = workload(name, 200'000);
    for (const char* permille : {"30", "400", "1000"}) {
      SCOPED_TRACE(std::string(name) + " " + permille);
      std::vector<std::string> changes = kTiny;
      changes.push_back(std::string("mapping.learning_permille=") + permille);
      for (const char* counts_at : {"end", "begin"}) {
        SCOPED_TRACE(counts_at);
        std::vector<std::string> keys = changes;
        keys.push_back(std::string("mapping.counts_at=") + counts_at);
        const report::RunResult plain = simulate(recording, "tom", keys);
        EXPECT_EQ(plain.warp_instructions, recording.warp_instructions);
        // The analyzer sees the instances that were counted in the traces.
        if (std::string(counts_at) == "end") {
          EXPECT_EQ(tom::mapping_of(plain)->seen_instances,
                    tom::mapping_of(plain)->wanted_instances);
        } else {
          EXPECT_GE(tom::mapping_of(plain)->seen_instances,
                    tom::mapping_of(plain)->wanted_instances);
        }
        EXPECT_EQ(tom::mapping_of(plain)->applied, tom::mapping_of(plain)->total_instances != 0);
        SimOptions o;
        o.window_ticks = 311;
        o.order_seed = 6;
        testing::use_general_steps(o);
        EXPECT_EQ(numbers_and_times(simulate(recording, "tom", keys, o)), numbers_and_times(plain));
        o.threads = 3;
        o.window_ticks = 0;
        EXPECT_EQ(numbers_and_times(simulate(recording, "tom", keys, o)), numbers_and_times(plain));
      }
    }
  }
}

TEST(DeterminismTiny, ShortestQueuesDrain) {
  // As few slots as the configuration allows: everything that waits for credits does.
  std::vector<std::string> least = kTiny;
  for (const config::KeyDescription& k : config::describe(config::load_machine("tom"))) {
    if (k.key.size() < 13 || k.key.substr(k.key.size() - 13) != "queue_entries") continue;
    const uint32_t low = static_cast<uint32_t>(std::stoul(k.range));
    least.push_back(k.key + "=" + std::to_string(low));
  }
  ASSERT_EQ(least.size(), kTiny.size() + 7);
  least.push_back("dram.write_high_watermark=1");
  least.push_back("dram.write_low_watermark=0");
  for (const char* name : {"kmeans", "bfs-rmat", "libor", "vector-add"}) {
    const runtime::Recording& recording = workload(name, 200'000);
    for (const std::string& policy : kPolicies) {
      SCOPED_TRACE(name + (" " + policy));
      const report::RunResult plain = simulate(recording, policy, least);  // checks conservation
      EXPECT_FALSE(plain.partial);
      EXPECT_EQ(plain.warp_instructions, recording.warp_instructions);
      SimOptions o;
      o.window_ticks = 501;
      o.order_seed = 4;
      testing::use_general_steps(o);
      EXPECT_EQ(numbers_and_times(simulate(recording, policy, least, o)), numbers_and_times(plain));
    }
  }
}

TEST(DeterminismTiny, OtherMachinesToo) {
  const runtime::Recording& recording = workload("kmeans", 100'000);
  const std::vector<std::vector<std::string>> machines = {
      {"links.gpu_to_memory_mbps=10000", "links.memory_to_memory_mbps=5000"},
      {"links.latency_cycles=3", "interconnect.channel_latency_cycles=1",
       "stack.switch_latency_cycles=2", "gpu.control_latency_cycles=5"},
      {"sm.scheduler_policy=lrr", "sm.schedulers=4", "sm.dp_units=1"},
      {"clocks.core_mhz=1000", "clocks.interconnect_mhz=1000", "clocks.l2_mhz=500"},
      {"l1.mshr_entries=1", "l1.mshr_merges=1", "lsu.load_entries=1", "l2.mshr_entries=1"}};
  for (const auto& machine : machines) {
    std::vector<std::string> overrides = kTiny;
    overrides.insert(overrides.end(), machine.begin(), machine.end());
    for (const std::string& policy : kPolicies) {
      SCOPED_TRACE(machine[0] + " " + policy);
      const report::RunResult plain = simulate(recording, policy, overrides);
      EXPECT_EQ(plain.warp_instructions, recording.warp_instructions);
      SimOptions o;
      o.window_ticks = 61;
      o.order_seed = 8;
      EXPECT_EQ(numbers_and_times(simulate(recording, policy, overrides, o)),
                numbers_and_times(plain));
    }
  }
}

}  // namespace
}  // namespace nearwarp::sim
