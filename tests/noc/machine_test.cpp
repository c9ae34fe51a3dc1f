// Do whole machines run on networks of routers, and does the way of stepping not show?
#include <gtest/gtest.h>

#include "tests/sim/device_rig.h"
#include "tests/support/general_steps.h"

namespace nearwarp::testing {
namespace {

TEST(NocMachine, EveryTopologyRunsEveryPacketKind) {
  const runtime::Recording& recording = workload("libor", 3'000'000);
  const auto instructions = simulate(recording, "baseline").warp_instructions;
  for (const char* topology : {"crossbar", "mesh", "butterfly"}) {
    for (const char* policy : {"baseline", "ndp-controlled-bmap"}) {
      // A run checks itself at its end: packets, bytes, instructions, flits.
      const report::RunResult r =
          simulate(recording, policy, {std::string("interconnect.topology=") + topology});
      EXPECT_EQ(r.warp_instructions, instructions) << topology << " " << policy;
    }
  }
}

TEST(NocMachine, OffloadingThroughAMesh) {
  const runtime::Recording& recording = workload("kmeans", 3'000'000);
  const report::RunResult r =
      simulate(recording, "ndp-uncontrolled-bmap", {"interconnect.topology=mesh"});
  EXPECT_GT(r.offloaded_thread_instructions, 0u);
}

TEST(NocMachine, OffloadedBlocksReturnOnAllocatedChannels) {
  // Packets that keep their order are tested in channel_network_test.cpp.
  const runtime::Recording& recording = workload("kmeans", 3'000'000);
  for (const char* topology : {"mesh", "crossbar"}) {
    for (const char* policy : {"tom", "ndp-uncontrolled-bmap", "ndp-ideal"}) {
      SCOPED_TRACE(std::string(topology) + " " + policy);
      const std::vector<std::string> keys{std::string("interconnect.topology=") + topology,
                                          "interconnect.vcs=8", "interconnect.vc_flits=2"};
      const report::RunResult r = simulate(recording, policy, keys);
      EXPECT_GT(r.offloaded_thread_instructions, 0u);
      sim::SimOptions other;
      other.window_ticks = 113;
      other.order_seed = 5;
      EXPECT_EQ(numbers(simulate(recording, policy, keys, other)), numbers(r));
    }
  }
}

TEST(NocMachine, LongWiresTakeLonger) {
  const runtime::Recording& recording = workload("libor", 3'000'000);
  const auto cycles = [&](const std::string& key) {
    return simulate(recording, "baseline", {"interconnect.topology=mesh", key}).cycles;
  };
  const uint64_t near = cycles("interconnect.router_latency_cycles=1");
  EXPECT_GT(cycles("interconnect.router_latency_cycles=40"), near);
  EXPECT_GT(cycles("interconnect.routing_delay_cycles=20"), near);
}

TEST(NocMachine, TheWayOfSteppingDoesNotShow) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  const std::vector<std::string> keys{"interconnect.topology=mesh", "interconnect.vc_flits=2"};
  const auto expected = numbers(simulate(recording, "ndp-controlled-bmap", keys));
  std::vector<sim::SimOptions> variations(3);
  variations[0].window_ticks = 113;
  variations[1].threads = 2;
  variations[1].order_seed = 5;
  variations[2].window_ticks = 997;
  variations[2].order_seed = 7;
  use_general_steps(variations[2]);
  for (const sim::SimOptions& options : variations) {
    const auto found = numbers(simulate(recording, "ndp-controlled-bmap", keys, options));
    SCOPED_TRACE(options.window_ticks);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]);
  }
}

TEST(NocMachine, ADeviceFindsTheSame) {
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  const std::vector<std::string> keys{"interconnect.topology=butterfly"};
  const Configs configs({"baseline", "tom"}, keys);
  kernels::EmulationOptions emulation;
  emulation.warps_per_block = 16;
  emulation.blocks_at_once = 12;
  emulation.seed = 3;
  kernels::EmulatedDevice device(emulation);
  for (const auto& results : {run_on(device, configs.systems(recording)),
                              run_as_batch(device, configs.systems(recording))}) {
    EXPECT_EQ(numbers(results[0]), numbers(simulate(recording, "baseline", keys)));
    EXPECT_EQ(numbers(results[1]), numbers(simulate(recording, "tom", keys)));
  }
}

}  // namespace
}  // namespace nearwarp::testing
