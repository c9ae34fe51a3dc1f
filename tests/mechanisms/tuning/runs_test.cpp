// Whole runs under tuned offloading. Is every round (iteration of an offloaded loop) executed once,
// on an SM or in a stack, whatever the policy? Are results independent of windows, threads and the
// order of steps? Is a combination that cannot work refused with its reason?
#include <gtest/gtest.h>

#include "host/mechanisms/tom/report/sections.h"
#include "host/recording/combine.h"
#include "tests/sim/whole_machine.h"
#include "tests/support/general_steps.h"

namespace nearwarp::sim {
namespace {

using testing::counter;
using testing::numbers;
using testing::workload;

using Keys = std::vector<std::string>;

constexpr const char* kPolicies[] = {"previous-offload", "tuned-adaptation", "tuned-aggressive",
                                     "tuned", "tuned-tmap"};

report::RunResult run(const runtime::Recording& recording, const std::string& policy,
                      const Keys& keys = {}, const SimOptions& options = {},
                      const std::string& machine = "pim-tuning") {
  return replay_on_cpu(recording, config::load_machine(machine, keys),
                       config::load_policy(policy, keys), options);
}

/// A machine so small that offloads are refused and queues are short.
const Keys kTiny = {"gpu.sms=4", "gpu.sms_with_ndp=4", "stack.vaults=4", "l2.slices=4",
                    "stack.sm_warps=3"};

void expect_consistent(const runtime::Recording& recording, const report::RunResult& r) {
  EXPECT_FALSE(r.partial);
  EXPECT_EQ(r.warp_instructions, recording.warp_instructions);
  EXPECT_EQ(r.thread_instructions, recording.thread_instructions);
  EXPECT_EQ(counter(r, "offload.instances"),
            counter(r, "offload.offloaded") + counter(r, "offload.refused_condition") +
                counter(r, "offload.refused_busy_tx") + counter(r, "offload.refused_busy_rx") +
                counter(r, "offload.refused_pending") + counter(r, "offload.no_memory_access"));
}

TEST(TunedRuns, EveryRoundIsExecutedOnceSomewhere) {
  for (const char* name : {"kmeans", "row-sum"}) {
    const runtime::Recording& recording = workload(name);
    uint64_t rounds = 0, entries = 0;
    for (const char* policy : kPolicies) {
      SCOPED_TRACE(std::string(name) + " " + policy);
      const report::RunResult r = run(recording, policy, kTiny);
      expect_consistent(recording, r);
      const uint64_t all = counter(r, "tuning.home_rounds") + counter(r, "tuning.near_rounds");
      if (rounds == 0) rounds = all, entries = counter(r, "tuning.entries");
      EXPECT_GT(all, 0u);
      EXPECT_EQ(all, rounds);
      EXPECT_EQ(counter(r, "tuning.entries"), entries);
    }
  }
}

TEST(TunedRuns, RoundsAreThoseOfTheTrace) {
  // A warp sums one of 1024 rows of 2048 columns, 32 columns in an iteration; nvcc unrolls the loop
  // by four.
  const auto r = run(workload("row-sum"), "tuned");
  EXPECT_EQ(counter(r, "tuning.home_rounds") + counter(r, "tuning.near_rounds"),
            1024u * (2048 / 32 / 4));
  EXPECT_EQ(counter(r, "tuning.entries"), 1024u);
}

TEST(TunedRuns, EachOptimisationDoesItsPart) {
  const runtime::Recording& recording = workload("row-sum");
  const auto previous = run(recording, "previous-offload"),
             adaptation = run(recording, "tuned-adaptation"),
             aggressive = run(recording, "tuned-aggressive");
  // The previous work decides once, before the loop, and no warp returns early.
  EXPECT_EQ(counter(previous, "offload.instances"), counter(previous, "tuning.entries"));
  EXPECT_EQ(counter(previous, "tuning.begins"), 0u);
  EXPECT_EQ(counter(previous, "tuning.sent_back"), 0u);
  // Every stack has a fourth of a row's lines, so an offloaded warp accesses three times as many
  // lines in other stacks as in its own, and is sent back.
  EXPECT_EQ(counter(adaptation, "tuning.sent_back"), counter(adaptation, "offload.offloaded"));
  EXPECT_LT(counter(adaptation, "tuning.near_rounds"), counter(previous, "tuning.near_rounds"));
  EXPECT_GT(counter(aggressive, "offload.instances"), counter(aggressive, "tuning.entries"));
  EXPECT_GT(counter(aggressive, "offload.offloaded"), counter(previous, "offload.offloaded"));
  EXPECT_EQ(counter(aggressive, "tuning.sent_back"), 0u);
}

TEST(TunedRuns, AThresholdThatNothingIsAboveSendsNothingBack) {
  const runtime::Recording& recording = workload("row-sum");
  const Keys high = {"tuning.threshold_percent=1000000", "tuning.full_history=true"};
  EXPECT_EQ(counter(run(recording, "tuned-adaptation", high), "tuning.sent_back"), 0u);
}

TEST(TunedRuns, DataThatAllLiesInItsStackIsNotSentBack) {
  const runtime::Recording& recording = workload("row-sum");
  const auto r = run(recording, "tuned", {"policy.mapping=oracle"});
  EXPECT_GT(counter(r, "offload.offloaded"), 0u);
  EXPECT_EQ(counter(r, "tuning.sent_back"), 0u);
  EXPECT_EQ(counter(r, "offload.remote_lines"), 0u);
}

TEST(TunedRuns, CountersAreEqualHoweverTheyAreComputed) {
  for (const char* name : {"kmeans", "bfs-rmat", "row-sum"}) {
    const runtime::Recording& recording = workload(name, 300'000);
    for (const char* policy : {"previous-offload", "tuned", "tuned-tmap"}) {
      SCOPED_TRACE(std::string(name) + " " + policy);
      const auto expected = numbers(run(recording, policy, kTiny));
      for (const Tick window : {7, 113, 997}) {
        SimOptions o;
        o.window_ticks = window;
        o.order_seed = 5;
        testing::use_general_steps(o);
        o.threads = window == 113 ? 2 : 1;
        EXPECT_EQ(numbers(run(recording, policy, kTiny, o)), expected) << window;
      }
    }
  }
}

TEST(TunedRuns, OtherReadingsRunToTheirEnds) {
  const runtime::Recording& recording = workload("kmeans", 2'000'000);
  const Keys readings[] = {
      {"tuning.rounds=innermost"},
      {"tuning.after_return=entry", "tuning.after_refusal=entry"},
      {"tuning.after_return=never", "tuning.after_refusal=loop"},
      {"offload.room_known=false"},
      {"tuning.history_rounds=16", "tuning.full_history=true"},
      {"offload.dynamic_control=false", "offload.granularity=innermost"},
      {"offload.busy_refuses=true", "offload.busy_threshold_percent=1"},
      {"stack.sm_warps=128", "stack_sm.clock_mhz=600"},
      {"stack.sm_warps=1", "stack.queue_entries=4", "links.queue_entries=4",
       "interconnect.queue_entries=4"},
  };
  for (const Keys& keys : readings) {
    SCOPED_TRACE(keys[0]);
    expect_consistent(recording, run(recording, "tuned", keys));
  }
}

TEST(TunedRuns, RunOnTheMachineOfTheOriginal) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  expect_consistent(recording, run(recording, "tuned", {}, {}, "tom"));
}

// --- shared arrays that are sent along ---

/// Bytes of shared arrays that were sent along or came back.
uint64_t moved(const report::RunResult& r) {
  return counter(r, "tuning.table_bytes") + counter(r, "tuning.merged_bytes");
}

/// The number of offloads with a shared array.
uint64_t with_array(const report::RunResult& r) {
  uint64_t n = 0;
  for (const tom::CandidateRow& row : tom::candidates_of(r))
    n += row.shared.empty() ? 0 : row.offloaded;
  return n;
}

/// Makes an offload of few rounds worthwhile, by having the selection assume badly coalesced loads.
const Keys kEager = {"tuning.adaptation=false", "offload.load_coalescing_percent=800"};
/// Bytes of a warp's private counters in the shared memory of a block of hist.
constexpr uint64_t kArray = 1024;

Keys with(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

TEST(SharedRuns, HistogramsAreOffloadedWithTheirCounters) {
  const runtime::Recording& recording = workload("hist");
  // An offload pays off from 26 rounds on, and a warp has only six.
  EXPECT_EQ(with_array(run(recording, "tuned-shared")), 0u);
  EXPECT_EQ(with_array(run(recording, "tuned", kEager)), 0u);
  const auto near = run(recording, "tuned-shared", kEager);
  EXPECT_GT(with_array(near), 0u);
  EXPECT_EQ(counter(near, "tuning.merged_bytes"), kArray * with_array(near));
  EXPECT_EQ(counter(near, "tuning.table_bytes"), 0u);
  EXPECT_EQ(near.warp_instructions, recording.warp_instructions);
  // With annotations only the annotated arrays are sent along, with the size given.
  const auto said = run(recording, "tuned-shared",
                        with(kEager, {"tuning.shared=annotated",
                                      "tuning.shared_arrays=hist_count::counts:accumulator:200"}));
  EXPECT_EQ(counter(said, "tuning.merged_bytes"), 200 * with_array(said));
  EXPECT_GT(with_array(said), 0u);
  EXPECT_EQ(with_array(run(recording, "tuned-shared", with(kEager, {"tuning.shared=annotated"}))),
            0u);
}

TEST(SharedRuns, CountersAreEqualHoweverTheyAreComputed) {
  const runtime::Recording& recording = workload("hist");
  for (const char* policy : {"tuned-shared", "tuned-shared-tmap"}) {
    for (const char* more : {"offload.dynamic_control=true", "offload.dynamic_control=false"}) {
      SCOPED_TRACE(std::string(policy) + " " + more);
      const Keys keys = with(with(kTiny, kEager), {more, "stack_sm.shared_memory_bytes=2048"});
      const auto r = run(recording, policy, keys);
      if (std::string(policy) == "tuned-shared") {
        EXPECT_GT(moved(r), 0u);
      }
      for (const Tick window : {7, 113}) {
        SimOptions o;
        o.window_ticks = window;
        o.order_seed = 5;
        testing::use_general_steps(o);
        o.threads = window == 113 ? 2 : 1;
        EXPECT_EQ(numbers(run(recording, policy, keys, o)), numbers(r)) << window;
      }
    }
  }
}

TEST(SharedRuns, TheSmallestSharedMemoryHoldsOneArrayAtATime) {
  const runtime::Recording& recording = workload("hist");
  const auto r = run(recording, "tuned-shared",
                     with(kEager, {"stack_sm.shared_memory_bytes=" + std::to_string(kArray)}));
  EXPECT_GT(with_array(r), 0u);
  EXPECT_GT(counter(r, "tuning.refused_shared"), 0u);
  EXPECT_EQ(counter(r, "tuning.peak_shared"), kArray);
  EXPECT_EQ(counter(r, "offload.instances"),
            counter(r, "offload.offloaded") + counter(r, "offload.refused_condition") +
                counter(r, "offload.refused_pending") + counter(r, "offload.no_memory_access") +
                counter(r, "tuning.refused_shared"));
  // Too small for any: the loop is no candidate.
  const auto none =
      run(recording, "tuned-shared",
          with(kEager, {"stack_sm.shared_memory_bytes=" + std::to_string(kArray - 1)}));
  EXPECT_EQ(moved(none), 0u);
  EXPECT_EQ(with_array(none), 0u);
}

TEST(SharedRuns, SeveralApplicationsEachBringTheirArrays) {
  std::vector<runtime::Recording> two;
  for (int i = 0; i < 2; ++i) {
    runtime::VirtualDevice device;
    workloads::find("hist")->run(device, workloads::Size::kSmall);
    two.push_back(device.take_recording("hist"));
  }
  const runtime::Recording both = runtime::combine(std::move(two));
  const auto r = run(both, "tuned-shared", kEager);
  EXPECT_EQ(r.warp_instructions, both.warp_instructions);
  EXPECT_GT(moved(r), 0u);
  EXPECT_EQ(moved(r), kArray * with_array(r));
}

/// Two kernels compiled by nvcc, with loops of 64 rounds: one reads a table in shared memory, the
/// other adds to an array there that the block shares.
runtime::Recording tables_and_sums() {
  runtime::VirtualDevice device;
  const uint32_t module =
      device.load_module(std::make_shared<const compiler::Program>(compiler::compile_ptx_file(
          std::string(NW_SOURCE_DIR) + "/tests/mechanisms/tuning/data/shared.ptx")));
  std::vector<uint32_t> values(64 * 128);
  for (uint32_t i = 0; i < values.size(); ++i) values[i] = i * 2654435761u;
  const auto in = device.upload(values, "in");
  const auto out = device.allocate(128 * sizeof(uint32_t), "out");
  for (const char* kernel : {"looks_up", "counts_of_block"})
    device.launch(module, kernel, {8}, {128}, 0,
                  runtime::KernelArgs(in, out, static_cast<uint32_t>(values.size())));
  return device.take_recording("tables-and-sums");
}

TEST(SharedRuns, TablesGoThereAndAccumulatorsComeBack) {
  const runtime::Recording recording = tables_and_sums();
  const auto r = run(recording, "tuned-shared", {"tuning.adaptation=false"});
  ASSERT_EQ(tom::candidates_of(r).size(), 2u);
  const tom::CandidateRow &table = tom::candidates_of(r)[0], &sums = tom::candidates_of(r)[1];
  EXPECT_EQ(table.shared, "table");
  EXPECT_EQ(sums.shared, "accumulator");
  EXPECT_GT(table.offloaded, 0u);
  EXPECT_GT(sums.offloaded, 0u);
  EXPECT_EQ(table.table_bytes, 1024 * table.offloaded);
  EXPECT_EQ(table.merged_bytes, 0u);
  EXPECT_EQ(sums.merged_bytes, 512 * sums.offloaded);
  EXPECT_EQ(sums.table_bytes, 0u);
  // Every access of the program is executed once, near memory or at home. The accesses that move
  // arrays are added: each row is read at one end and written at the other, and merging reads and
  // writes a row once more.
  const auto accesses = [](const report::RunResult& of) {
    return counter(of, "sm.shared_accesses") + counter(of, "stack_sm.shared_accesses");
  };
  const auto home = run(recording, "baseline");
  EXPECT_EQ(accesses(r), counter(home, "sm.shared_accesses") + table.offloaded * 8 * 2 +
                             sums.offloaded * 4 * (1 + 1 + 2));
  SimOptions o;
  o.window_ticks = 7;
  o.order_seed = 9;
  EXPECT_EQ(numbers(run(recording, "tuned-shared", {"tuning.adaptation=false"}, o)), numbers(r));
}

TEST(SharedRuns, CandidatesSayWhatTheirArraysDid) {
  const auto r = run(workload("hist"), "tuned-shared", kEager);
  uint64_t bytes = 0;
  for (const tom::CandidateRow& row : tom::candidates_of(r)) {
    bytes += row.merged_bytes + row.table_bytes;
    if (row.merged_bytes == 0) continue;
    EXPECT_EQ(row.kernel, "hist_count");
    EXPECT_EQ(row.shared, "accumulator");
    EXPECT_EQ(row.shared_bytes, kArray);
  }
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(bytes, moved(r));
}

std::string error_of(const std::string& policy, const Keys& keys, const std::string& machine) {
  try {
    run(workload("kmeans", 30'000), policy, keys, {}, machine);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(TunedRuns, WhatIsMissingIsSaid) {
  EXPECT_NE(error_of("tuned", {}, "discrete16").find("'tuning' needs memory stacks"),
            std::string::npos);
  EXPECT_NE(error_of("previous-offload", {"tuning.after_refusal=round"}, "pim-tuning")
                .find("tuning.pimbegin = \"before\""),
            std::string::npos);
  EXPECT_NE(error_of("tuned", {"offload.overhead=false"}, "pim-tuning").find("must be true"),
            std::string::npos);
  EXPECT_NE(error_of("tuned-shared", {"tuning.shared_arrays=counts"}, "pim-tuning")
                .find("NAME:accumulator:BYTES"),
            std::string::npos);
  EXPECT_NE(error_of("tuned-shared", {"tuning.shared_arrays=nothing:table:4"}, "pim-tuning")
                .find("no kernel of 'kmeans' has a shared array of that name"),
            std::string::npos);
  EXPECT_NE(error_of("tuned", {"stack.count=16"}, "pim-tuning").find("offload.room_known"),
            std::string::npos);
}

}  // namespace
}  // namespace nearwarp::sim
