// Do launches that come one by one take as long as all of them at once?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "host/timing/run/launch_timer.h"
#include "tests/sim/whole_machine.h"

namespace nearwarp::sim {
namespace {

using testing::workload;

/// A store with the chunks of one launch.
runtime::TraceStore traces_of(const runtime::Recording& recording,
                              const runtime::LaunchRecord& launch) {
  runtime::TraceStore store;
  for (uint32_t i = 0; i < launch.num_chunks; ++i)
    store.append(*recording.traces.chunk(launch.first_chunk + i));
  return store;
}

/// The cycles of every launch if each is simulated before the next is known.
std::vector<uint64_t> one_by_one(const runtime::Recording& recording,
                                 const std::vector<std::string>& overrides) {
  LaunchTimer run(config::load_machine("tom", overrides),
                  config::load_policy("baseline", overrides));
  std::vector<uint64_t> cycles;
  size_t kernels = 0;
  for (const runtime::LaunchRecord& launch : recording.launches) {
    for (; kernels <= launch.kernel; ++kernels) run.add_kernel(*recording.kernels[kernels]);
    cycles.push_back(run.launch(launch, traces_of(recording, launch)));
  }
  return cycles;
}

std::vector<uint64_t> all_at_once(const runtime::Recording& recording,
                                  const std::vector<std::string>& overrides) {
  std::vector<uint64_t> cycles;
  for (const report::KernelRow& k : testing::simulate(recording, "baseline", overrides).kernels)
    cycles.push_back(k.cycles);
  return cycles;
}

class LiveRuns : public ::testing::TestWithParam<std::string> {};

TEST_P(LiveRuns, LaunchesTakeAsLongAsAllAtOnce) {
  const runtime::Recording& recording = workload(GetParam(), 600'000);
  for (const std::vector<std::string>& overrides :
       {std::vector<std::string>{"gpu.sms=4", "gpu.sms_with_ndp=4"},
        {"gpu.kernel_launch_latency_cycles=0"},
        {"sm.charge_moves=true"}}) {
    EXPECT_EQ(one_by_one(recording, overrides), all_at_once(recording, overrides))
        << overrides.front();
  }
}

INSTANTIATE_TEST_SUITE_P(, LiveRuns,
                         ::testing::Values("vector-add", "kmeans", "bfs-rmat", "backprop", "fwt"),
                         [](const auto& of) { return testing::test_name(of.param); });

TEST(LaunchTimer, WhatALaunchThatFailedHasLeftIsNotTaken) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  const auto cycles = [&](bool something_before) {
    LaunchTimer run(config::load_machine("tom", {}), config::load_policy("baseline", {}));
    for (const auto& kernel : recording.kernels) run.add_kernel(*kernel);
    const runtime::LaunchRecord& launch = recording.launches[0];
    runtime::TraceStore traces;
    if (something_before) {
      runtime::TraceChunk other = *recording.traces.chunk(launch.first_chunk);
      other.num_blocks = 1;
      other.warp_offset.resize(other.warps_per_block + 1);
      other.words.resize(other.warp_offset.back());
      traces.append(other);
    }
    for (uint32_t i = 0; i < launch.num_chunks; ++i)
      traces.append(*recording.traces.chunk(launch.first_chunk + i));
    return run.launch(launch, std::move(traces));
  };
  EXPECT_EQ(cycles(true), cycles(false));
}

TEST(LaunchTimer, RefusesPoliciesThatOffload) {
  try {
    LaunchTimer run(config::load_machine("tom", {}), config::load_policy("tom", {}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("policy 'tom' offloads"), std::string::npos);
  }
}

TEST(LaunchTimer, ALaunchThatDoesNotFitEndsIt) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  const std::vector<std::string> overrides = {"sm.threads=32"};
  LaunchTimer run(config::load_machine("tom", overrides),
                  config::load_policy("baseline", overrides));
  for (const auto& kernel : recording.kernels) run.add_kernel(*kernel);
  const runtime::LaunchRecord& launch = recording.launches[0];
  EXPECT_THROW(run.launch(launch, traces_of(recording, launch)), Error);
  EXPECT_THROW(run.launch(launch, traces_of(recording, launch)), Error) << "nor any later one";
}

}  // namespace
}  // namespace nearwarp::sim
