// Do whole programs run rightly on MPU's split pipeline?
#include <gtest/gtest.h>

#include "host/recording/combine.h"
#include "tests/mechanisms/same_results.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
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
  // Only the addition is executed near the banks, and no value moves.
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
  // Then every load writes its register near the banks, and every store's register moves down.
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
  const std::vector<std::string> smallest = {"mpu.collectors=1",
                                             "mpu.near_instructions=1",
                                             "lsu.queue_entries=2",
                                             "lsu.load_entries=1",
                                             "l1.mshr_entries=1",
                                             "l1.mshr_merges=1",
                                             "near_bank.queue_entries=2",
                                             "interconnect.queue_entries=2",
                                             "links.queue_entries=2",
                                             "dram.queue_entries=2",
                                             "dram.read_entries=1",
                                             "dram.write_entries=1",
                                             "dram.write_high_watermark=1",
                                             "dram.write_low_watermark=0"};
  for (const char* policy : {"mpu", "mpu-near", "mpu-pages"})
    for (const char* name : {"vector-add", "reduction"}) {
      SCOPED_TRACE(std::string(name) + " under " + policy);
      const report::RunResult r = run(name, policy, smallest, {}, 300'000);
      EXPECT_EQ(r.warp_instructions, workload(name, 300'000).warp_instructions);
    }
}

TEST(Mpu, NothingHitsAndNothingMerges) {
  for (const char* policy : {"ponb", "mpu"})
    for (const char* name : {"blur", "upsample"}) {
      const report::RunResult r = run(name, policy, {}, {}, 300'000);
      EXPECT_EQ(counter(r, "sm.l1.read_hits"), 0u) << name;
      EXPECT_EQ(counter(r, "sm.l1.read_merges"), 0u) << name;
      EXPECT_EQ(counter(r, "sm.l1.write_hits"), 0u) << name;
      EXPECT_EQ(counter(r, "dram.reads"), counter(r, "sm.load_lines")) << name;
      for (const report::EnergyTerm& t : r.energy.terms)
        EXPECT_EQ(t.name.find(".l1."), std::string::npos) << t.name;
      // With l1.keep=misses loads join outstanding ones; with l1.keep=lines lines stay.
      const report::RunResult misses = run(name, policy, {"l1.keep=misses"}, {}, 300'000);
      EXPECT_EQ(counter(misses, "sm.l1.read_hits"), 0u) << name;
      EXPECT_GT(counter(misses, "sm.l1.read_merges"), 0u) << name;
      const report::RunResult lines = run(name, policy, {"l1.keep=lines"}, {}, 300'000);
      EXPECT_GT(counter(lines, "sm.l1.read_hits"), 0u) << name;
    }
}

TEST(Mpu, WhatNearBankInstructionsWaitForIsAllOfTheirTime) {
  for (const char* policy : {"mpu", "mpu-near"})
    for (const char* name : {"vector-add", "reduction"}) {
      SCOPED_TRACE(std::string(name) + " under " + policy);
      const report::RunResult r = run(name, policy);
      EXPECT_GT(counter(r, "mpu.near_cycles"), 0u);
      EXPECT_EQ(counter(r, "mpu.near_cycles"),
                counter(r, "mpu.near_tsv_cycles") + counter(r, "mpu.near_collector_cycles") +
                    counter(r, "mpu.near_alu_cycles") + counter(r, "mpu.near_execution_cycles") +
                    counter(r, "mpu.near_commit_cycles"));
    }
}

const report::Utilisation& use_of(const report::RunResult& r, const std::string& name) {
  for (const report::Utilisation& u : r.utilisation)
    if (u.name == name) return u;
  throw Error("no utilisation " + name);
}

TEST(Mpu, SaysHowBusyItsPartsWere) {
  for (const char* policy : {"ponb", "mpu"}) {
    const report::RunResult r = run("axpy", policy, {}, {}, 0);
    const report::Utilisation &up = use_of(r, "tsv.up"), &down = use_of(r, "tsv.down");
    EXPECT_EQ(up.components, 128u);
    // A cycle of 2 GHz for each 8 bytes or a part of them, both ways together.
    const double ticks = static_cast<double>(up.available_ticks) / r.cycles / 2;
    EXPECT_GE(static_cast<double>(up.busy_ticks + down.busy_ticks),
              ticks * counter(r, "stack.switch_bytes") / 8);
    EXPECT_LE(up.most(), 1.0);
    EXPECT_LE(down.most(), 1.0);
    EXPECT_GT(std::max(up.mean(), down.mean()), 0.5) << policy;
    // The TSVs carry commits, registers and the core's own data, but no data of other cores.
    const report::Utilisation& own = use_of(r, "tsv.to_sms");
    EXPECT_EQ(own.components, 128u);
    EXPECT_NEAR(static_cast<double>(own.busy_ticks), ticks * counter(r, "stack.to_sms.bytes") / 8,
                128);  // rounded down for each core
    EXPECT_LE(own.busy_ticks, down.busy_ticks);
    EXPECT_GT(own.mean(), 0.1) << policy;
  }
  const report::RunResult near = run("axpy", "mpu-near", {}, {}, 0);
  const report::Utilisation& alus = use_of(near, "mpu.alus");
  EXPECT_EQ(alus.components, 512u);
  EXPECT_EQ(alus.busy_ticks / (alus.available_ticks / near.cycles),
            counter(near, "mpu.port_cycles"));
  EXPECT_LE(alus.most(), 1.0);
}

TEST(Mpu, FewerNearInstructionsOfAWarpHoldItUp) {
  const report::RunResult one = run("vector-add", "mpu-near", {"mpu.near_instructions=1"}),
                          eight = run("vector-add", "mpu-near");
  EXPECT_EQ(counter(one, "mpu.near"), counter(eight, "mpu.near"));
  EXPECT_GT(counter(one, "mpu.held_room"), counter(eight, "mpu.held_room"));
}

TEST(Mpu, OtherReadingsOfTheFarBankOperationSet) {
  // k-nearest neighbours takes a square root, and operations across lanes are reduction's.
  const report::RunResult simple = run("nearest-neighbour", "mpu"),
                          all = run("nearest-neighbour", "mpu", {"mpu.near_operations=all"});
  EXPECT_LT(counter(all, "mpu.fixed"), counter(simple, "mpu.fixed"));
  EXPECT_LT(counter(all, "mpu.code_fixed"), counter(simple, "mpu.code_fixed"));
}

TEST(Mpu, SeveralProgramsAtOnce) {
  const auto record = [](const char* name) {
    runtime::VirtualDevice::Options options;
    options.max_thread_instructions = 300'000;
    runtime::VirtualDevice device(options);
    workloads::find(name)->run(device, workloads::Size::kSmall);
    return device.take_recording(name);
  };
  std::vector<runtime::Recording> two;
  two.push_back(record("vector-add"));
  two.push_back(record("reduction"));
  const runtime::Recording both = runtime::combine(std::move(two));
  const config::MachineConfig machine = config::load_machine("mpu");
  for (const char* policy : {"ponb", "mpu", "mpu-near"}) {
    const report::RunResult r =
        replay_on_cpu(both, machine, config::load_policy(policy), SimOptions{});
    EXPECT_EQ(r.warp_instructions, workload("vector-add", 300'000).warp_instructions +
                                       workload("reduction", 300'000).warp_instructions);
    ASSERT_EQ(r.applications.size(), 2u);
    SimOptions o;
    o.window_ticks = 3;
    o.order_seed = 9;
    EXPECT_EQ(numbers(replay_on_cpu(both, machine, config::load_policy(policy), o)), numbers(r));
  }
}

TEST(Mpu, TheSameWhateverTheWindows) {
  for (const char* name : {"vector-add", "reduction", "bfs-rmat"})
    testing::expect_same_in_windows({"mpu", "mpu"}, name, 300'000, {1, 3, 997});
  for (const char* policy : {"mpu-near", "mpu-hardware", "mpu-far"})
    testing::expect_same_in_windows({"mpu", policy}, "reduction", 300'000, {3, 997});
}

TEST(Mpu, TheSameOnADevice) {
  for (const char* policy : kPolicies)
    testing::expect_same_on_a_device({"mpu", policy}, "vector-add", 100'000);
}

TEST(Mpu, SaysWhatAMachineLacks) {
  const auto refused = [](const char* machine, const std::vector<std::string>& changes) {
    return testing::refusal({machine, "mpu"}, "vector-add", 100'000, changes);
  };
  EXPECT_NE(refused("tom", {}).find("machine.shape is \"stacked\""), std::string::npos);
  EXPECT_NE(refused("v100", {}).find("it must be \"near_bank\""), std::string::npos);
  EXPECT_NE(refused("mpu", {"tlb.entries=16"}).find("tlb.entries=0"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::sim
