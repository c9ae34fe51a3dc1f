// Do machines of the shapes mesh, stacks and near_bank run programs to their end, whatever the way
// of stepping, with the least of room, and without what needs a main GPU with stacks?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/hand_made.h"
#include "tests/sim/stepping.h"

namespace nearwarp::testing {
namespace {

/// A machine to test. `tight`: keys by which channels and queues have the least possible room.
struct Subject {
  const char* machine;
  std::vector<std::string> tight;
};
const std::vector<Subject> kSubjects = {
    {"opportunistic",
     {"interconnect.queue_entries=2", "partitions.queue_entries=2", "l2.queue_entries=2",
      "interconnect.vc_flits=1", "interconnect.vcs=1", "l2.mshr_entries=1"}},
    {"coda",
     {"interconnect.queue_entries=2", "links.queue_entries=2", "stack.queue_entries=2",
      "l2.queue_entries=2", "interconnect.vc_flits=1", "l2.mshr_entries=1"}},
    {"mpu",
     {"interconnect.queue_entries=2", "links.queue_entries=2", "near_bank.queue_entries=2",
      "dram.queue_entries=2", "dram.write_high_watermark=1", "dram.write_low_watermark=0"}}};

using Case = std::tuple<Subject, std::string>;

class ShapeRuns : public ::testing::TestWithParam<Case> {
 protected:
  const Subject& subject() const { return std::get<0>(GetParam()); }
  const runtime::Recording& recording() const {
    const std::string& program = std::get<1>(GetParam());
    return is_hand_made(program) ? hand_made(program)
                                 : workload(program, program == "kmeans" ? 200'000 : 2'000'000);
  }
  report::RunResult run(const std::vector<std::string>& keys = {},
                        const sim::SimOptions& options = {}) const {
    return sim::replay_on_cpu(recording(), config::load_machine(subject().machine, keys),
                              config::load_policy("baseline"), options);
  }
};

TEST_P(ShapeRuns, ToTheEndAndNothingIsLost) {
  // A run checks itself at its end: packets, bytes, instructions, warps, MSHRs.
  const report::RunResult r = run();
  EXPECT_FALSE(r.partial);
  EXPECT_EQ(r.warp_instructions, recording().warp_instructions);
  EXPECT_EQ(r.traffic.gpu_to_memory_bytes, 0u);
}

TEST_P(ShapeRuns, TheWayOfSteppingDoesNotShow) {
  const auto expected = numbers(run());
  for (const sim::SimOptions& options : ways_of_stepping(recording(), 13))
    EXPECT_EQ(numbers(run({}, options)), expected) << options.window_ticks;
}

TEST_P(ShapeRuns, MinimalRoomOnlyTakesLonger) {
  const report::RunResult r = run(subject().tight);
  EXPECT_EQ(r.warp_instructions, recording().warp_instructions);
  EXPECT_GT(r.cycles, run().cycles);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ShapeRuns,
    ::testing::Combine(::testing::ValuesIn(kSubjects),
                       ::testing::Values("kmeans", "bfs-rmat", "hand-made-atomics",
                                         "hand-made-stores", "hand-made-barriers")),
    [](const auto& test) {
      return std::string(std::get<0>(test.param).machine) + "_" +
             test_name(std::get<1>(test.param));
    });

TEST(TopologiesOfLinks, RunInTheLeastRoom) {
  const runtime::Recording& stores = hand_made("hand-made-stores");
  const runtime::Recording& graph = workload("bfs-rmat", 500'000);
  for (const char* topology : {"pairs", "ports", "pool"}) {
    std::vector<std::string> keys = kSubjects[1].tight;
    keys.push_back(std::string("links.topology=") + topology);
    const config::MachineConfig machine = config::load_machine("coda", keys);
    for (const runtime::Recording* program : {&stores, &graph}) {
      const report::RunResult r =
          sim::replay_on_cpu(*program, machine, config::load_policy("baseline"), {});
      EXPECT_EQ(r.warp_instructions, program->warp_instructions) << topology;
    }
  }
}

TEST(ShapesOnADevice, FindTheSame) {
  const runtime::Recording& recording = hand_made("hand-made-stores");
  const config::PolicyConfig baseline = config::load_policy("baseline");
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 12;
  emulation.seed = 3;
  std::vector<std::unique_ptr<config::MachineConfig>> machines;
  std::vector<sim::ReplayJob> all;
  for (const Subject& s : kSubjects) {
    machines.push_back(std::make_unique<config::MachineConfig>(config::load_machine(s.machine)));
    kernels::EmulatedDevice device(emulation);
    all.push_back({&recording, machines.back().get(), &baseline});
    EXPECT_EQ(numbers(run_on(device, std::span(all).last(1))[0]),
              numbers(sim::replay_on_cpu(recording, *machines.back(), baseline, {})))
        << s.machine;
  }
  // All machines in one batch.
  kernels::EmulatedDevice device(emulation);
  const auto in_batch = run_as_batch(device, all);
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(numbers(in_batch[i]),
              numbers(sim::replay_on_cpu(recording, *machines[i], baseline, {})))
        << kSubjects[i].machine;
}

TEST(Shapes, WithoutAMainGpuAndStacksRefuseWhatNeedsThem) {
  const runtime::Recording& recording = hand_made("hand-made-stores");
  const auto error = [&](const char* machine, const char* policy) -> std::string {
    try {
      sim::replay_on_cpu(recording, config::load_machine(machine), config::load_policy(policy), {});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  for (const char* policy : {"tom", "ndp-controlled-bmap", "tom-oracle"}) {
    for (const auto& [machine, shape] : {std::pair{"coda", "stacks"}, std::pair{"mpu", "near_bank"},
                                         std::pair{"opportunistic", "mesh"}})
      EXPECT_EQ(error(machine, policy),
                fmt::format("policy '{}' on machine '{}': 'tom' needs memory stacks that can "
                            "compute, behind the links of a GPU, and machine.shape is \"{}\" - it "
                            "must be \"stacked\"",
                            policy, machine, shape));
  }
}

}  // namespace
}  // namespace nearwarp::testing
