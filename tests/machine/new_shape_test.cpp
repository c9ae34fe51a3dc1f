// Does a machine of a shape that nobody has thought of run, by a generator alone?
//
// Two GPUs, the second with SMs at half the clock and with one ALU port, each around a switch with
// vaults behind it; the switches are linked both ways. There are no crossbars, no L2 and no link
// ports, and SMs find all lines in vaults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/timing/machine/shapes/parts.h"
#include "host/timing/machine/shapes/shapes.h"
#include "tests/sim/device_rig.h"
#include "tests/sim/hand_made.h"
#include "tests/sim/stepping.h"

namespace nearwarp::testing::new_shape_test {
namespace {

constexpr uint32_t kGpus = 2;
const std::vector<std::string> kKeys = {"stack.count=2", "stack.vaults=4", "l2.slices=4",
                                        "gpu.sms=3", "gpu.sms_per_cluster=1"};

sim::Graph two_gpus(const sim::ShapeInputs& inputs) {
  using sim::ChannelClass, sim::End, sim::kReplies, sim::kRequests, sim::NodeId;
  const sim::Parts parts(inputs);
  const uint32_t sms = parts.machine.gpu.sms, vaults = parts.machine.stack.vaults;
  sim::Graph g = parts.empty_graph();
  const uint32_t homes = g.add_homes(kGpus, vaults);
  sim::SmSpec fast = parts.main_sm();
  fast.homes = homes;
  sim::SmSpec slow = fast;
  slow.params.period *= 2;
  slow.params.ports[static_cast<uint32_t>(sm::Unit::kSp)] = 1;
  const uint16_t sm_class[kGpus] = {g.add_class("sm", fast), g.add_class("slow_sm", slow)};
  const uint16_t vault_class = g.add_class("dram", parts.vault(parts.machine.stack.tsv_mbps));
  const uint16_t switch_class =
      g.add_class("switch", parts.crossbar_switch(parts.machine.stack.switch_flit_bytes));
  const NodeId front_end = g.add(g.add_class("front_end", parts.front_end()), "front end");
  NodeId switches[kGpus];
  for (uint16_t k = 0; k < kGpus; ++k) {
    switches[k] = g.add(switch_class, fmt::format("switch {}", k), k);
    for (uint32_t i = 0; i < sms; ++i) {
      const NodeId sm = g.add(sm_class[k], fmt::format("sm {} of GPU {}", i, k), k);
      g.link(g.at(sm), g.next_in(switches[k]), ChannelClass::kSmToNetwork, kRequests, parts.hop());
      g.link(g.next_out(switches[k]), g.at(sm), ChannelClass::kNetworkToSm, kReplies, parts.hop());
      g.link(g.at(sm), g.at(front_end), ChannelClass::kControl, sim::kControl, parts.control(16));
      g.link(g.at(front_end), g.at(sm), ChannelClass::kControl, sim::kControl, parts.control(16));
    }
    for (uint32_t v = 0; v < vaults; ++v) {
      const NodeId vault = g.add(vault_class, fmt::format("vault {} of GPU {}", v, k), k);
      g.link(g.next_out(switches[k]), g.at(vault), ChannelClass::kInStack, kRequests,
             parts.in_stack());
      g.link(g.at(vault), g.next_in(switches[k]), ChannelClass::kInStack, kReplies,
             parts.in_stack());
      g.set_home(homes, k, v, vault);
    }
  }
  const sim::Wire wire = parts.off_chip(parts.machine.links.memory_to_memory_mbps);
  for (uint32_t k = 0; k < kGpus; ++k) {
    const End from = g.next_out(switches[k]), to = g.next_in(switches[1 - k]);
    g.link(from, to, ChannelClass::kMemoryToMemory, kRequests, wire);
    g.link(from, to, ChannelClass::kMemoryToMemory, kReplies, wire);
  }
  return g;
}

report::RunResult run(const runtime::Recording& recording, sim::SimOptions options = {},
                      const std::vector<std::string>& keys = {}) {
  options.shape = two_gpus;
  std::vector<std::string> all = kKeys;
  all.insert(all.end(), keys.begin(), keys.end());
  return simulate(recording, "baseline", all, options);
}

class NewShape : public ::testing::TestWithParam<std::string> {
 protected:
  const runtime::Recording& recording() const {
    return is_hand_made(GetParam()) ? hand_made(GetParam()) : workload(GetParam(), 1'000'000);
  }
};

TEST_P(NewShape, RunsToItsEndAndLosesNothing) {
  // A run checks itself at its end: packets, bytes, instructions, warps, MSHRs.
  const report::RunResult r = run(recording());
  EXPECT_FALSE(r.partial);
  EXPECT_EQ(r.warp_instructions, recording().warp_instructions);
  // Both GPUs work, and reach each other's vaults.
  EXPECT_GT(counter(r, "sm.issued"), 0u);
  EXPECT_GT(counter(r, "slow_sm.issued"), 0u);
  EXPECT_GT(r.traffic.memory_to_memory_bytes, 0u);
  EXPECT_EQ(counter(r, "l2.reads"), 0u);
  EXPECT_EQ(counter(r, "dram.powered_cycles"), kGpus * 4 * r.cycles);
}

TEST_P(NewShape, TheWayOfSteppingDoesNotShow) {
  const auto expected = numbers(run(recording()));
  for (const sim::SimOptions& options : ways_of_stepping(recording(), 113))
    EXPECT_EQ(numbers(run(recording(), options)), expected) << options.window_ticks;
}

TEST_P(NewShape, MinimalRingsOnlyTakeLonger) {
  const report::RunResult r =
      run(recording(), {},
          {"links.queue_entries=2", "stack.queue_entries=2", "interconnect.queue_entries=2"});
  EXPECT_EQ(r.warp_instructions, recording().warp_instructions);
  EXPECT_GT(r.cycles, run(recording()).cycles);
}

INSTANTIATE_TEST_SUITE_P(Programs, NewShape,
                         ::testing::Values("kmeans", "bfs-rmat", "hand-made-atomics",
                                           "hand-made-barriers"),
                         [](const auto& test) { return test_name(test.param); });

}  // namespace
}  // namespace nearwarp::testing::new_shape_test
