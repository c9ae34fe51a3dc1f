// Whole programs on MPU's split pipeline.
#include <gtest/gtest.h>

#include "tests/mechanisms/same_results.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::workload;

report::RunResult run(const std::string& name, const std::string& policy,
                      const std::vector<std::string>& overrides = {},
                      const SimOptions& options = {}, uint64_t limit = 1'000'000) {
  return replay_on_cpu(workload(name, limit), config::load_machine("mpu", overrides),
                       config::load_policy(policy, overrides), options);
}

constexpr const char* kPolicies[] = {"mpu", "mpu-hardware", "mpu-near", "mpu-far"};

TEST(Mpu, EveryInstructionIsExecutedOnce) {
  for (const char* name : {"vector-add", "bfs-rmat", "reduction", "hist", "kmeans"}) {
    const report::RunResult base = run(name, "ponb", {}, {}, 300'000);
    for (const char* policy : kPolicies) {
      SCOPED_TRACE(std::string(name) + " under " + policy);
      const report::RunResult r = run(name, policy, {}, {}, 300'000);  // checks conservation
      EXPECT_EQ(r.warp_instructions, base.warp_instructions);
      EXPECT_EQ(r.thread_instructions, base.thread_instructions);
      EXPECT_EQ(counter(r, "mpu.near") + counter(r, "mpu.far") + counter(r, "mpu.fixed") +
                    counter(r, "mpu.shared"),
                counter(r, "sm.issued"));
      EXPECT_EQ(counter(r, "dram.bytes_written"), counter(base, "dram.bytes_written"));
      // In between, it depends on whether all operands are there.
      if (std::string(policy) == "mpu-far") {
        EXPECT_EQ(counter(r, "mpu.near"), 0u);
      } else if (std::string(policy) == "mpu-near") {
        EXPECT_GT(counter(r, "mpu.near"), 0u);
      }
      EXPECT_EQ(counter(r, "mpu.far") == 0, std::string(policy) == "mpu-near");
    }
  }
}

TEST(Mpu, DataOfOwnBanksStaysAboveTheTsvs) {
  const report::RunResult base = run("vector-add", "ponb"), r = run("vector-add", "mpu");
  EXPECT_GT(counter(r, "mpu.loads_near"), 0u);
  EXPECT_GT(counter(r, "mpu.stores_near"), 0u);
  // The sum of values alone is near the banks, and no value moves.
  EXPECT_GT(counter(r, "mpu.near"), 0u);
  const uint64_t accesses = counter(r, "mpu.loads_near") + counter(r, "mpu.stores_near") +
                            counter(r, "mpu.inactive") + counter(r, "mpu.scattered") +
                            counter(r, "mpu.remote") + counter(r, "mpu.other_unit");
  EXPECT_EQ(accesses, counter(r, "sm.loads") + counter(r, "sm.stores"));
  EXPECT_LT(counter(r, "stack.switch_bytes"), counter(base, "stack.switch_bytes"));
}

TEST(Mpu, TheTestCanBeSwitchedOff) {
  const report::RunResult r = run("vector-add", "mpu", {"mpu.offload_accesses=false"});
  const report::RunResult on = run("vector-add", "mpu");
  // Then every load's register is written near the banks, and every store's comes down.
  EXPECT_EQ(counter(r, "mpu.loaded_to_near"), counter(r, "sm.loads"));
  EXPECT_GT(counter(r, "mpu.moves_far"), counter(on, "mpu.moves_far"));
  EXPECT_GT(counter(r, "stack.switch_bytes"), counter(on, "stack.switch_bytes"));
}

TEST(Mpu, SharedMemoryNearAndFar) {
  const report::RunResult near = run("reduction", "mpu"),
                          far = run("reduction", "mpu", {"mpu.shared_memory=far"});
  EXPECT_GT(counter(near, "mpu.shared"), 0u);
  EXPECT_EQ(counter(far, "mpu.shared"), 0u);
  EXPECT_EQ(counter(near, "sm.shared_accesses"), counter(far, "sm.shared_accesses"));
}

TEST(Mpu, TheSmallestQueues) {
  const std::vector<std::string> smallest = {
      "mpu.collectors=1",          "lsu.queue_entries=2",
      "lsu.load_entries=1",        "l1.mshr_entries=1",
      "l1.mshr_merges=1",          "near_bank.queue_entries=2",
      "dram.queue_entries=2",      "dram.read_entries=1",
      "dram.write_entries=1",      "dram.write_high_watermark=1",
      "dram.write_low_watermark=0"};
  for (const char* name : {"vector-add", "reduction"}) {
    SCOPED_TRACE(name);
    const report::RunResult r = run(name, "mpu", smallest, {}, 300'000);
    EXPECT_EQ(r.warp_instructions, workload(name, 300'000).warp_instructions);
  }
}

TEST(Mpu, TheSameWhateverTheWindows) {
  for (const char* name : {"vector-add", "reduction", "bfs-rmat"})
    testing::expect_same_in_windows({"mpu", "mpu"}, name, 300'000, {1, 3, 997});
}

TEST(Mpu, TheSameOnADevice) {
  testing::expect_same_on_a_device({"mpu", "mpu"}, "vector-add", 100'000);
}

TEST(Mpu, SaysWhatAMachineLacks) {
  const auto refused = [](const char* machine, const std::vector<std::string>& changes) {
    return testing::refusal({machine, "mpu"}, "vector-add", 100'000, changes);
  };
  EXPECT_NE(refused("tom", {}).find("machine.shape is \"stacked\""), std::string::npos);
  EXPECT_NE(refused("v100", {}).find("of the shape \"near_bank\""), std::string::npos);
  EXPECT_NE(refused("mpu", {"tlb.entries=16"}).find("tlb.entries=0"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::sim
