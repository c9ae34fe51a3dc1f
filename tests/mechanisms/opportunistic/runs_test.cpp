// Whole programs under LLC-Compute.
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
    EXPECT_EQ(counter(r, "dram.bytes_written"), counter(base, "dram.bytes_written"));
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
  EXPECT_NE(refused("tom", {}).find("machine.shape is \"stacked\""), std::string::npos);
  EXPECT_NE(refused("opportunistic", {"tlb.entries=16"}).find("tlb.entries=0"), std::string::npos);
  EXPECT_NE(refused("qv100", {}).find("by sectors"), std::string::npos) << refused("qv100", {});
}

}  // namespace
}  // namespace nearwarp::sim
