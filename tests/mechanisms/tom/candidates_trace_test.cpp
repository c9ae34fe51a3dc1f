// Do the iterations that a condition is about really happen? The traces of the workloads, counted
// as the timing model counts them, against the trip counts that the programs are known to have.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "bench/workloads/workload.h"
#include "host/mechanisms/tom/pass/candidates.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::compiler {
namespace {

/// Iterations of each conditional candidate's decisive loop, by instance: executions of its count
/// blocks between entering and leaving the candidate. Keyed by (kernel name, candidate id).
using Instances = std::map<std::pair<std::string, uint32_t>, std::map<uint64_t, uint64_t>>;

Instances iterations_in_traces(const runtime::Recording& recording) {
  Instances histogram;
  for (uint32_t launch = 0; launch < recording.launches.size(); ++launch) {
    const Kernel& kernel = *recording.kernels[recording.launches[launch].kernel];
    for (const OffloadCandidate& c : select_candidates(kernel, OffloadModel{})) {
      if (c.trip != TripKind::kConditional) continue;
      bool inside = false;
      uint64_t iterations = 0;
      auto& seen = histogram[{kernel.name, c.id}];
      const auto leave = [&] {
        if (inside) ++seen[iterations];
        inside = false;
        iterations = 0;
      };
      runtime::TraceVisitor visitor;
      visitor.warp = [&](uint64_t, uint32_t) { leave(); };
      visitor.run = [&](const runtime::BlockRun& run) {
        const bool member = std::binary_search(c.blocks.begin(), c.blocks.end(), run.block);
        if (!member) leave();
        inside = member;
        for (const CountBlock& count : c.condition.count_blocks) {
          if (count.block == run.block) iterations += count.iterations_per_execution;
        }
      };
      replay(recording, launch, visitor);
      leave();
    }
  }
  return histogram;
}

runtime::Recording record(const std::string& workload) {
  runtime::VirtualDevice device;
  const auto result = workloads::find(workload)->run(device, workloads::Size::kSmall);
  EXPECT_TRUE(result.passed) << result.detail;
  return device.take_recording(workload);
}

std::set<uint64_t> counts(const Instances& instances, const std::string& kernel, uint32_t id) {
  std::set<uint64_t> result;
  const auto found = instances.find({kernel, id});
  if (found == instances.end()) return result;
  for (const auto& [iterations, times] : found->second) result.insert(iterations);
  return result;
}

TEST(OffloadTraces, LiborIterations) {
  // Size small: 20 rates, 10 fixings, 15 swaptions, 1024 paths in 32 warps.
  const Instances instances = iterations_in_traces(record("libor"));
  EXPECT_EQ(counts(instances, "libor_reset", 0), std::set<uint64_t>{20});
  std::map<std::set<uint64_t>, int> loops;
  for (const auto& [key, histogram] : instances) {
    if (key.first != "libor_adjoint") continue;
    ++loops[counts(instances, key.first, key.second)];
    uint64_t times = 0;
    for (const auto& [iterations, n] : histogram) times += n;
    EXPECT_EQ(times, 32u) << "candidate " << key.second;
  }
  EXPECT_EQ(loops[{20}], 1);  // the copy of the initial rates
  EXPECT_EQ(loops[{15}], 1);  // swaptions
  EXPECT_EQ(loops[{10}], 7);  // fixings or rates beyond them; Figure 4's loops are two of these
  EXPECT_EQ(loops.size(), 3u);
}

TEST(OffloadTraces, KmeansIterations) {
  const Instances instances = iterations_in_traces(record("kmeans"));
  EXPECT_EQ(counts(instances, "kmeans_transpose", 0), std::set<uint64_t>{34});
  EXPECT_EQ(counts(instances, "kmeans_assign", 0), std::set<uint64_t>{5 * 34});
}

TEST(OffloadTraces, ReductionIterations) {
  // 64 elements per thread, two per iteration; the second launch has one per thread.
  const Instances instances = iterations_in_traces(record("reduction"));
  EXPECT_EQ(counts(instances, "reduction_sum", 0), (std::set<uint64_t>{1, 32}));
}

}  // namespace
}  // namespace nearwarp::compiler
