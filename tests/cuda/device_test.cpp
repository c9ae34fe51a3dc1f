// Does a GPU give what the CPU gives, however its blocks meet and its launches end, and does it say
// what goes wrong?
#include <cstdlib>
#include <map>

#include "host/timing/run/accelerator_batch.h"
#include "kernels/device_arena.h"
#include "tests/cuda/gpu.h"
#include "tests/sim/device_rig.h"

namespace nearwarp::sim {
namespace {

using testing::Configs;
using testing::Gpu;
using testing::numbers;
using testing::run_as_batch;
using testing::run_on;
using testing::simulate;
using testing::workload;

const std::vector<std::string> kFew = {"gpu.sms=4", "gpu.sms_with_ndp=4", "stack.vaults=4",
                                       "l2.slices=4"};

TEST_F(Gpu, TheSteppingKernelFitsItsRegisters) {
  EXPECT_GT(info.registers, 0u);
  EXPECT_LE(info.local_bytes, 4096u);  // of all threads that can be there: some hundred MiB
  EXPECT_GE(info.blocks_at_once, info.multiprocessors);
}

TEST_F(Gpu, TeamsMeetInHardwareWhereTheDeviceHasClusters) {
  ASSERT_TRUE(info.architecture.starts_with("sm_")) << info.architecture;
  const bool has_clusters = std::atoi(info.architecture.c_str() + 3) >= 90;
  EXPECT_EQ(info.clusters, has_clusters) << "is code for this device in the build?";
  EXPECT_FALSE(open(false)->info().clusters);
  if (has_clusters) {
    EXPECT_GT(info.largest_team, 1u);
  }
}

TEST_F(Gpu, MemoryComesAndGoes) {
  const auto device = open();
  const std::vector<uint32_t> sent = {1, 2, 3, 4, 5};
  const kernels::DeviceBuffer there(*device, sent.data(), sent.size() * sizeof(uint32_t));
  std::vector<uint32_t> back(sent.size());
  there.download(back.data(), back.size() * sizeof(uint32_t));
  EXPECT_EQ(back, sent);
  EXPECT_THROW(device->allocate(uint64_t{1} << 60), kernels::OutOfDeviceMemory);
  EXPECT_NO_THROW(device->release(device->allocate(1000)));  // the error is not met again
}

TEST_F(Gpu, OneSystemWhateverTheTeam) {
  const runtime::Recording& recording = workload("kmeans", 200'000);
  for (const char* policy : {"baseline", "tom"}) {
    const Configs configs({policy}, {});
    const auto expected = numbers(simulate(recording, policy));
    for (const bool clusters : {true, false}) {
      const auto device = open(clusters);
      for (uint32_t blocks = 1; blocks <= device->info().largest_team; blocks *= 2) {
        SCOPED_TRACE(std::string(policy) + ", blocks " + std::to_string(blocks) +
                     (clusters ? ", clusters" : ", memory"));
        AcceleratorBatchOptions options;
        options.blocks_per_team = blocks;
        EXPECT_EQ(numbers(run_on(*device, configs.systems(recording), options)[0]), expected);
      }
    }
  }
}

TEST_F(Gpu, SmallTeamsShareBlocks) {
  const runtime::Recording& recording = workload("kmeans", 1'000);
  std::vector<std::string> policies;
  std::map<std::string, decltype(numbers(simulate(recording, "tom", kFew)))> expected;
  // There are enough systems for blocks of two teams and then of four; some end before others.
  while (policies.size() <= 4 * info.multiprocessors) {
    for (const char* policy : {"baseline", "tom", "ndp-controlled-bmap"}) {
      policies.push_back(policy);
      if (!expected.contains(policy)) expected[policy] = numbers(simulate(recording, policy, kFew));
    }
  }
  const Configs configs(policies, kFew);
  const auto device = open();
  for (uint32_t warps = 1; warps <= info.warps_per_block; warps *= 4) {
    AcceleratorBatchOptions options;
    options.team_warps = warps;
    const auto results = run_on(*device, configs.systems(recording), options);
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(numbers(results[i]), expected[policies[i]]) << warps << " warps";
  }
}

TEST_F(Gpu, LaunchesMayEndAnywhere) {
  const runtime::Recording& recording = workload("bfs-rmat", 100'000);
  const Configs configs({"baseline", "ndp-uncontrolled-bmap", "tom"}, kFew);
  const auto device = open();
  for (const kernels::Slice slice :
       {kernels::Slice{7, ~uint64_t{0}}, kernels::Slice{~uint64_t{0}, 100'000}, kernels::Slice{}}) {
    AcceleratorBatchOptions options;
    options.slice = slice;
    const auto results = run_on(*device, configs.systems(recording), options);
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(numbers(results[i]), numbers(simulate(recording, configs.policies[i].name, kFew)));
  }
}

TEST_F(Gpu, BatchesMayEndAnywhere) {
  const runtime::Recording& recording = workload("bfs-rmat", 100'000);
  const std::vector<std::string> policies = {"baseline", "ndp-uncontrolled-bmap", "tom"};
  std::vector<std::string> many;  // of each more than a warp has lanes, in one cohort
  while (many.size() < 99) many.insert(many.end(), policies.begin(), policies.end());
  const Configs few(policies, kFew), full(many, kFew);
  std::map<std::string, decltype(numbers(simulate(recording, "tom", kFew)))> expected;
  for (const std::string& policy : policies)
    expected[policy] = numbers(simulate(recording, policy, kFew));
  const auto device = open();
  const auto check = [&](const Configs& configs, const kernels::Slice& slice) {
    AcceleratorBatchOptions options;
    options.slice = slice;
    const auto results = run_as_batch(*device, configs.systems(recording), options);
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_EQ(numbers(results[i]), expected[configs.policies[i].name]) << i;
  };
  check(few, {7, ~uint64_t{0}});
  check(few, {~uint64_t{0}, 100'000});
  check(full, {});
}

TEST_F(Gpu, MachinesOfABatchMayDiffer) {
  std::vector<std::unique_ptr<config::MachineConfig>> machines;
  std::vector<ReplayJob> systems;
  const runtime::Recording& recording = workload("vector-add", 20'000);
  const config::PolicyConfig policy = config::load_policy("baseline", {});
  for (const char* name : {"tom", "mpu", "opportunistic", "coda", "gtx480"})
    machines.push_back(std::make_unique<config::MachineConfig>(config::load_machine(name, {})));
  for (const auto& machine : machines) systems.push_back({&recording, machine.get(), &policy});
  const auto device = open();
  const auto results = run_as_batch(*device, systems);
  for (size_t i = 0; i < systems.size(); ++i)
    EXPECT_EQ(numbers(results[i]), numbers(replay_on_cpu(recording, *machines[i], policy, {})))
        << machines[i]->name;
}

TEST_F(Gpu, ServiceQueuesCompute) {
  const std::vector<std::string> few = {"gpu.sms=8", "mesh.width=4", "mesh.height=4",
                                        "mesh.memory_tiles=0 2 5 7 8 10 13 15"};
  const config::MachineConfig machine = config::load_machine("opportunistic", few);
  const auto device = open();
  struct Case {
    const char *name, *policy, *taken;
  };
  for (const auto& [name, policy_name, taken] :
       {Case{"triad", "llc-compute", "service.taken"},
        {"bfs-rmat", "llc-compute", "service.taken"},
        {"vecadd-strided", "omni-compute", "sm_service.taken"}}) {
    const config::PolicyConfig policy = config::load_policy(policy_name, {});
    const runtime::Recording& recording = workload(name, 50'000);
    const ReplayJob job{&recording, &machine, &policy};
    const report::RunResult expected = replay_on_cpu(recording, machine, policy, {});
    EXPECT_GT(testing::counter(expected, taken), 0u);
    EXPECT_EQ(numbers(run_on(*device, {&job, 1})[0]), numbers(expected)) << name;
    EXPECT_EQ(numbers(run_as_batch(*device, {&job, 1})[0]), numbers(expected)) << name;
  }
}

TEST_F(Gpu, MoreSystemsThanItHoldsAtOnce) {
  const runtime::Recording& recording = workload("kmeans", 20'000);
  // There are too many systems for large teams at once, so small teams share blocks.
  const Configs configs(
      std::vector<std::string>(info.blocks_at_once * 2 + 70, "ndp-controlled-bmap"), kFew);
  const auto expected = numbers(simulate(recording, "ndp-controlled-bmap", kFew));
  const auto device = open();
  for (const uint32_t warps : {0u, 1u, info.warps_per_block}) {
    AcceleratorBatchOptions options;
    options.team_warps = warps;
    options.way = DeviceWay::kTeams;
    for (const report::RunResult& r : run_on(*device, configs.systems(recording), options))
      ASSERT_EQ(numbers(r), expected) << warps;
  }
}

/// Makes a component point far outside of its system's arena, steps the system, and returns the
/// footprint of the fault.
kernels::Footprint footprint_of_fault(kernels::Device& device, Replay& run, uint32_t component) {
  System& system = run.system();
  kernels::Component& c = system.component(component);
  c.wake = 0;
  c.inputs.count = 0;
  c.state = 0xfffffff0u;
  device.leave_footprints();
  kernels::DeviceArena arena(device, system.arena.base(), system.arena.size_bytes(),
                             system.components());
  kernels::TeamLauncher launcher(device, 1);
  const kernels::TeamShape shape = {1, 1, device.info().warps_per_block};
  kernels::TeamSystem team = arena.team_system(run.state(), shape, 1);
  team.deal.shared_at = nullptr;
  try {
    launcher.run({&team, 1}, shape, {});
  } catch (const kernels::DeviceError&) {
    return device.footprint();
  }
  return {};
}

TEST_F(Gpu, AFaultLeavesAFootprint) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fault ends the use of CUDA in a process
  const auto faulty = [&] {
    const Configs configs({"baseline"}, kFew);
    Replay run({&workload("kmeans", 20'000), &configs.machine, &configs.policies[0]}, 0);
    run.begin();
    const auto device = open();
    const uint32_t vault = run.system().members("dram")[2];
    const kernels::Footprint f = footprint_of_fault(*device, run, vault);
    std::_Exit(f.component == vault ? 0 : 1);
  };
  EXPECT_EXIT(faulty(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nearwarp::sim
