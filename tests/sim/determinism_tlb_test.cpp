// Are counters equal whatever the windows, the threads, the order of stepping and of lanes, with
// TLBs so small that walks are everywhere?
#include <gtest/gtest.h>

#include <tuple>

#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kTinyTlb = {"tlb.entries=2", "tlb.walk_accesses=2",
                                           "tlb.page_bytes=4096"};

class TinyTlb : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(TinyTlb, CountersAreEqual) {
  const auto& [name, policy] = GetParam();
  // The graph is small, and walks some 370 times in all that it does.
  const runtime::Recording& recording = workload(name, name == "bfs-rmat" ? 400'000 : 150'000);
  const report::RunResult plain = simulate(recording, policy, kTinyTlb);
  uint64_t walks = counter(plain, "sm.tlb.walks");
  if (policy != "baseline") walks += counter(plain, "stack_sm.tlb.walks");
  EXPECT_GT(walks, 200u);  // else there is little to compare
  const auto expected = numbers(plain);
  SimOptions o;
  for (const Tick window : {0, 997, 1791, 113}) {
    SCOPED_TRACE(window);
    o.window_ticks = window;
    o.order_seed += 5;
    testing::use_general_steps(o);
    o.threads = o.threads % 3 + 1;
    EXPECT_EQ(numbers(simulate(recording, policy, kTinyTlb, o)), expected);
  }
}

TEST_P(TinyTlb, WindowsOfOneTick) {
  const auto& [name, policy] = GetParam();
  const runtime::Recording& recording = workload(name, 30'000);
  std::vector<std::string> machine = kTinyTlb;
  machine.insert(machine.end(), {"gpu.sms=4", "gpu.sms_with_ndp=4", "stack.vaults=4", "l2.slices=4",
                                 "tlb.walkers=2", "tlb.walk_accesses=3"});
  const auto expected = numbers(simulate(recording, policy, machine));
  SimOptions o;
  o.window_ticks = 1;
  EXPECT_EQ(numbers(simulate(recording, policy, machine, o)), expected);
}

TEST_P(TinyTlb, ShortestQueuesDrain) {
  const auto& [name, policy] = GetParam();
  const runtime::Recording& recording = workload(name, 100'000);
  std::vector<std::string> machine = {"tlb.entries=1", "tlb.page_bytes=4096", "tlb.walkers=32",
                                      "tlb.walk_accesses=4"};
  for (const char* key : {"interconnect", "links", "stack", "l2", "lsu"})
    machine.push_back(std::string(key) + ".queue_entries=2");
  machine.insert(machine.end(), {"l1.mshr_entries=1", "l2.mshr_entries=1", "l2.mshr_merges=1"});
  const report::RunResult plain = simulate(recording, policy, machine);  // checks conservation
  EXPECT_EQ(plain.warp_instructions, recording.warp_instructions);
  SimOptions o;
  o.window_ticks = 501;
  o.order_seed = 4;
  testing::use_general_steps(o);
  EXPECT_EQ(numbers(simulate(recording, policy, machine, o)), numbers(plain));
}

INSTANTIATE_TEST_SUITE_P(Workloads, TinyTlb,
                         ::testing::Combine(::testing::Values("gather", "kmeans", "bfs-rmat"),
                                            ::testing::Values("baseline", "ndp-controlled-bmap",
                                                              "ndp-uncontrolled-bmap")),
                         [](const auto& test) {
                           std::string n = std::get<0>(test.param) + "_" + std::get<1>(test.param);
                           for (char& c : n)
                             if (c == '-') c = '_';
                           return n;
                         });

}  // namespace
}  // namespace nearwarp::sim
