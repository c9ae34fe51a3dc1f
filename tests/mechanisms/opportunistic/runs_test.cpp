// Do whole programs run rightly under LLC-Compute?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "tests/mechanisms/same_results.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::workload;

report::RunResult run(const std::string& name, const std::string& policy,
                      const std::vector<std::string>& overrides = {},
                      const SimOptions& options = {}, uint64_t limit = 1'000'000) {
  return replay_on_cpu(workload(name, limit), config::load_machine("opportunistic", overrides),
                       config::load_policy(policy, overrides), options);
}

/// The bytes that a program stores which writes each of its lines once, and lines as a whole.
uint64_t bytes_stored(const report::RunResult& r) {
  return counter(r, "dram.bytes_written") + 128 * counter(r, "l2.lines_left_dirty");
}

TEST(LlcCompute, OffloadsWhatLiesInOnePartition) {
  for (const char* name :
       {"copy-aligned", "vecadd-aligned", "norm", "triad", "compare", "density"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name, "llc-compute");
    EXPECT_GT(counter(r, "chains.instances"), 0u);
    EXPECT_EQ(counter(r, "chains.offloaded") + counter(r, "chains.full"),
              counter(r, "chains.instances"));
    EXPECT_GT(counter(r, "chains.offloaded"), counter(r, "chains.full"));
    EXPECT_EQ(counter(r, "service.taken") + counter(r, "chains.came_back"),
              counter(r, "chains.packets"));
    EXPECT_GT(r.offloaded_thread_instructions, 0u);
    const report::RunResult base = run(name, "baseline");
    EXPECT_EQ(r.thread_instructions, base.thread_instructions);
    EXPECT_EQ(bytes_stored(r), bytes_stored(base));
  }
}

TEST(LlcCompute, LeavesAloneWhatLiesInSeveral) {
  for (const char* name : {"copy-strided", "vecadd-strided"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name, "llc-compute");
    EXPECT_EQ(counter(r, "chains.offloaded"), 0u);
    EXPECT_EQ(counter(r, "chains.elsewhere"), counter(r, "chains.instances"));
  }
}

TEST(LlcCompute, LanesOfSeveralLinesAreSeveralPackets) {
  // Vertices of a warp whose lists lie in different lines.
  const report::RunResult r = run("bfs-rmat", "llc-compute");
  EXPECT_GT(counter(r, "chains.packets"), counter(r, "chains.offloaded"));
  EXPECT_EQ(counter(r, "service.taken") + counter(r, "chains.came_back"),
            counter(r, "chains.packets"));
  EXPECT_LE(counter(r, "chains.peak"), 48u);
}

TEST(LlcCompute, OfOnePacketAtMost) {
  const report::RunResult four = run("bfs-rmat", "llc-compute");
  const report::RunResult one = run("bfs-rmat", "llc-compute", {"chains.max_parts=1"});
  EXPECT_EQ(counter(one, "chains.packets"), counter(one, "chains.offloaded"));
  EXPECT_GT(counter(one, "chains.divergent"), counter(four, "chains.divergent"));
}

TEST(LlcCompute, AcknowledgedWhenTheStoreHasLeft) {
  const report::RunResult stored = run("triad", "llc-compute");
  const report::RunResult left = run("triad", "llc-compute", {"chains.ack=forwarded"});
  EXPECT_GT(counter(stored, "service.wait_stored"), 0u);
  EXPECT_EQ(counter(left, "service.wait_stored"), 0u);
  EXPECT_EQ(bytes_stored(left), bytes_stored(stored));
}

TEST(LlcCompute, WhatAStoreDoesThatMisses) {
  // A store of a whole line stays in the slice; or goes to memory, and may fetch its line besides.
  for (const char* policy : {"baseline", "llc-compute"}) {
    SCOPED_TRACE(policy);
    const report::RunResult keeps = run("vecadd-aligned", policy);
    EXPECT_GT(counter(keeps, "l2.write_allocates"), 0u);
    EXPECT_EQ(counter(keeps, "l2.writes_through"), 0u);
    const report::RunResult through = run("vecadd-aligned", policy, {"l2.write_miss=through"});
    EXPECT_EQ(counter(through, "l2.write_allocates"), 0u);
    EXPECT_EQ(counter(through, "l2.writes_through"), counter(through, "l2.writes"));
    const report::RunResult fetches = run("vecadd-aligned", policy, {"l2.write_miss=fetch"});
    EXPECT_EQ(counter(fetches, "l2.write_fetches"), counter(fetches, "l2.writes"));
    EXPECT_EQ(counter(fetches, "l2.fills"),
              counter(fetches, "l2.read_misses") + counter(fetches, "l2.write_fetches"));
    EXPECT_EQ(counter(fetches, "l2.writes"), counter(keeps, "l2.writes"));
    const report::RunResult before = run("vecadd-aligned", policy, {"l2.write_policy=through"});
    EXPECT_EQ(counter(before, "dram.bytes_written"), bytes_stored(keeps));
  }
}

TEST(LlcCompute, LooksUpInTheL1WhatLoadsAndStoresWould) {
  for (const char* name : {"triad", "compare", "copy-strided"}) {
    SCOPED_TRACE(name);
    const report::RunResult base = run(name, "baseline"), chains = run(name, "llc-compute");
    EXPECT_EQ(counter(chains, "sm.load_lines"), counter(base, "sm.load_lines"));
    EXPECT_EQ(counter(chains, "sm.store_lines"), counter(base, "sm.store_lines"));
  }
}

TEST(LlcCompute, IssuesTheSumsOfSplitMultiplyAdds) {
  // All chains of the matrix product are products whose sums stay.
  const report::RunResult r = run("sgemm", "llc-compute");
  EXPECT_GT(counter(r, "chains.sums"), 0u);
  EXPECT_EQ(counter(r, "chains.sums"), counter(r, "chains.offloaded"));
  EXPECT_EQ(counter(r, "sm.issued"), r.warp_instructions + counter(r, "chains.sums"));
  EXPECT_EQ(counter(run("triad", "llc-compute"), "chains.sums"), 0u);
}

TEST(LlcCompute, FetchesTheInstructionsOfChains) {
  // With a buffer of two, half as many fetches as instructions; a jump wastes one.
  const report::RunResult base = run("triad", "baseline"), chains = run("triad", "llc-compute");
  EXPECT_GT(counter(chains, "chains.offloaded"), 0u);
  const uint64_t fetches = counter(chains, "sm.fetch.fetches");
  EXPECT_GE(fetches - counter(chains, "sm.fetch.wasted"), chains.warp_instructions / 2);
  EXPECT_LE(fetches, counter(base, "sm.fetch.fetches") + chains.warp_instructions / 8);
  // Where it takes no time nothing of that is there.
  const std::vector<std::string> none = {"sm.fetch_width=0", "instruction_cache.bytes=0"};
  const report::RunResult free = run("triad", "llc-compute", none);
  EXPECT_EQ(counter(free, "chains.instances"), counter(chains, "chains.instances"));
  EXPECT_EQ(counter(free, "sm.fetch.fetches"), 0u);
}

TEST(LlcCompute, SaysWhatChainsWaitForAndHowFullQueuesAre) {
  const report::RunResult r = run("triad", "llc-compute");
  uint64_t waits = 0;
  for (const char* what : {"turn", "operands", "buffer", "read", "alu", "stored", "reply"})
    waits += counter(r, std::string("service.wait_") + what);
  EXPECT_EQ(waits, counter(r, "service.cycles"));
  EXPECT_GE(counter(r, "chains.entry_cycles"), counter(r, "chains.away_cycles"));
  EXPECT_EQ(counter(r, "chains.queue_accesses"),
            2 * (counter(r, "chains.packets") + counter(r, "service.taken")));
  const auto use = [&](const std::string& name) {
    for (const report::Utilisation& u : r.utilisation)
      if (u.name == name) return u.mean();
    return -1.0;
  };
  for (const char* name : {"chains.entries", "service.entries", "service.alus"}) {
    EXPECT_GT(use(name), 0) << name;
    EXPECT_LE(use(name), 1) << name;
  }
  EXPECT_EQ(use("sm_service.entries"), -1);
}

TEST(LlcCompute, LeavesAloneWhatTheL1Has) {
  const report::RunResult r = run("kmeans", "llc-compute", {}, {}, 4'000'000);
  EXPECT_GT(counter(r, "chains.l1_hits"), 9 * counter(r, "chains.offloaded"));
}

TEST(LlcCompute, TheSmallestQueues) {
  const std::vector<std::string> smallest = {"chains.offload_entries=1", "chains.service_entries=1",
                                             "chains.buffer_entries=1",
                                             "interconnect.queue_entries=48", "l2.mshr_entries=1"};
  for (const char* name : {"vecadd-aligned", "triad", "density"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name, "llc-compute", smallest, {}, 300'000);
    EXPECT_GT(counter(r, "chains.came_back"), 0u);
    EXPECT_EQ(counter(r, "chains.peak"), 1u);
    EXPECT_EQ(counter(r, "service.peak"), 1u);
  }
}

TEST(LlcCompute, ProgramsOfAllKinds) {
  for (const char* name : {"bfs-rmat", "mvt", "reduction", "hotspot", "spmv"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name, "llc-compute");  // checks conservation
    EXPECT_EQ(r.warp_instructions, workload(name, 1'000'000).warp_instructions);
  }
}

TEST(LlcCompute, TheSameWhateverTheWindows) {
  for (const char* name : {"triad", "compare", "vecadd-aligned", "fdtd", "bfs-rmat"})
    testing::expect_same_in_windows({"opportunistic", "llc-compute"}, name, 300'000);
}

TEST(LlcCompute, TheSameOnADevice) {
  testing::expect_same_on_a_device({"opportunistic", "llc-compute"}, "triad", 300'000);
}

TEST(LlcCompute, SaysWhatAMachineLacks) {
  const auto refused = [](const char* machine, const std::vector<std::string>& changes) {
    return testing::refusal({machine, "llc-compute"}, "triad", 300'000, changes);
  };
  EXPECT_NE(refused("mpu", {}).find("machine.shape is \"near_bank\""), std::string::npos);
  EXPECT_NE(refused("opportunistic", {"tlb.entries=16"}).find("tlb.entries=0"), std::string::npos);
  EXPECT_NE(refused("qv100", {}).find("by sectors"), std::string::npos) << refused("qv100", {});
}

}  // namespace
}  // namespace nearwarp::sim
