// What does address translation cost in the whole machine, where are the page tables read, and does
// nothing of it remain once it is switched off?
#include <gtest/gtest.h>

#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kOff = {"tlb.entries=0"};
const std::vector<std::string> kTiny = {"tlb.entries=2", "tlb.walk_accesses=2",
                                        "tlb.page_bytes=4096"};

TEST(Translation, OffMeansNoTrace) {
  for (const char* policy : {"baseline", "ndp-controlled-bmap"}) {
    const report::RunResult r = simulate(workload("kmeans", 300'000), policy, kOff);
    for (const report::Counter& c : r.counters) {
      if (c.name.find("tlb.") == std::string::npos) continue;
      EXPECT_EQ(c.value, 0u) << c.name;
    }
    // Every read of the L2 is an L1 miss.
    EXPECT_EQ(counter(r, "l2.reads"), counter(r, "sm.l1.read_misses"));
    // Other keys of the TLB do not matter then.
    EXPECT_EQ(testing::numbers(simulate(workload("kmeans", 300'000), policy,
                                        {"tlb.entries=0", "tlb.page_bytes=4096", "tlb.walkers=1",
                                         "tlb.walk_accesses=4"})),
              testing::numbers(r));
  }
}

TEST(Translation, MainSmsReadPageTablesThroughTheL2) {
  const report::RunResult r = simulate(workload("gather", 300'000), "baseline", kTiny);
  EXPECT_GT(counter(r, "sm.tlb.walks"), 1000u);
  EXPECT_EQ(counter(r, "sm.tlb.walk_reads"), 2 * counter(r, "sm.tlb.walks"));
  EXPECT_EQ(counter(r, "l2.reads"),
            counter(r, "sm.l1.read_misses") + counter(r, "sm.tlb.walk_reads"));
  EXPECT_EQ(counter(r, "sm.tlb.walk_reads_remote"), 0u);
  EXPECT_EQ(r.traffic.memory_to_memory_bytes, 0u);
}

TEST(Translation, EnoughEntriesWalkEveryPageOnce) {
  const runtime::Recording& gather = workload("gather", 300'000);
  const report::RunResult r = simulate(gather, "baseline");
  const uint64_t bytes = gather.allocations.back().address + gather.allocations.back().bytes -
                         gather.allocations.front().address;
  EXPECT_LE(counter(r, "sm.tlb.walks"), 68 * (bytes / (2 << 20) + 2));
  EXPECT_GT(counter(r, "sm.tlb.walks"), 0u);
  EXPECT_EQ(
      counter(r, "sm.tlb.hits") + counter(r, "sm.tlb.misses"),
      counter(r, "sm.load_lines") + counter(r, "sm.store_lines") + counter(r, "sm.atomic_lines"));
}

TEST(Translation, SmallerTlbsWalkMoreAndTakeLonger) {
  uint64_t walks = 0, cycles = 0;
  for (const char* entries : {"1024", "8", "1"}) {
    const report::RunResult r =
        simulate(workload("gather", 300'000), "baseline",
                 {std::string("tlb.entries=") + entries, "tlb.page_bytes=4096"});
    EXPECT_GT(counter(r, "sm.tlb.walks"), walks);
    EXPECT_GT(r.cycles, cycles);
    walks = counter(r, "sm.tlb.walks");
    cycles = r.cycles;
  }
}

TEST(Translation, WalksOfStackSmsCrossStacks) {
  const report::RunResult r =
      simulate(workload("kmeans", 1'000'000), "ndp-uncontrolled-bmap",
               {"tlb.entries=1", "tlb.page_bytes=4096", "tlb.walk_accesses=4"});
  const uint64_t remote = counter(r, "stack_sm.tlb.walk_reads_remote");
  EXPECT_GT(remote, 1000u);
  EXPECT_LT(remote, counter(r, "stack_sm.tlb.walk_reads"));
  // A request there and a reply back. The data that stack SMs access could not make as many, were
  // all of it in other stacks.
  const uint64_t packets = counter(r, "link.memory_to_memory.packets");
  const uint64_t data = counter(r, "stack_sm.l1.read_misses") + counter(r, "stack_sm.store_lines");
  EXPECT_GE(packets, 2 * remote);
  EXPECT_LE(packets, 2 * (remote + data));
  EXPECT_GT(packets, 2 * data);
  EXPECT_GE(r.traffic.memory_to_memory_bytes, remote * (8 + 136));
}

TEST(Translation, WithOneStackNoWalkIsRemote) {
  const report::RunResult r = simulate(workload("kmeans", 300'000), "ndp-uncontrolled-bmap",
                                       {"stack.count=1", "l2.slices=4", "tlb.entries=2",
                                        "tlb.walk_accesses=2", "tlb.page_bytes=4096"});
  EXPECT_GT(counter(r, "stack_sm.tlb.walks"), 0u);
  EXPECT_EQ(counter(r, "stack_sm.tlb.walk_reads_remote"), 0u);
  EXPECT_EQ(r.traffic.memory_to_memory_bytes, 0u);
}

}  // namespace
}  // namespace nearwarp::sim
