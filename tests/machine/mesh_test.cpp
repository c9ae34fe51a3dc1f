// Do tiles lie where the machine's file says: are hops those of the paper, and the latency that of
// the hops?
#include <gtest/gtest.h>

#include "host/core/error.h"
#include "tests/machine/one_load.h"

namespace nearwarp::testing {
namespace {

constexpr uint32_t kRequestFlits = 1, kReplyFlits = 5;  // of a read
constexpr uint32_t kInPartition = 3;                    // flits of both in the partition's switch

/// The machine with all clocks equal, so that a tick is a cycle; only the load uses the network.
config::MachineConfig opportunistic(std::vector<std::string> keys = {}) {
  keys.insert(keys.end(), {"clocks.dram_mhz=1400", "dram.other_clock=keep-cycles",
                           "instruction_cache.bytes=0", "constant_cache.bytes=0"});
  return config::load_machine("opportunistic", keys);
}

struct Hops {
  uint32_t core, partition, hops;
};
/// A. Pattnaik et al., ISCA 2019, section 3.1, Fig. 3: core 15 is 8 hops from LLC 5, 5 from LLC 6
/// and 8 from LLC 7; core 36 is on its way to LLC 6, 3 hops on, and 2 from it, 5 from LLC 5.
constexpr Hops kPaper[] = {{15, 5, 8}, {15, 6, 5}, {15, 7, 8}, {36, 5, 5}, {36, 6, 2}};

TEST(Mesh, HopsAreThoseOfThePaper) {
  for (const Hops& h : kPaper) {
    const config::MachineConfig m = opportunistic();
    const report::RunResult r = one_load(m, h.core, line_of(m, h.partition, 0));
    EXPECT_EQ(counter(r, "noc.flit_links"), (kRequestFlits + kReplyFlits) * h.hops) << h.partition;
    EXPECT_EQ(counter(r, "noc.flit_hops"),
              (kRequestFlits + kReplyFlits) * (h.hops + 1) + kInPartition);
  }
}

TEST(Mesh, UnloadedLatencyIsTheSumOfItsParts) {
  for (const Hops& h : kPaper) {
    const config::MachineConfig m = opportunistic();
    const uint32_t end = m.interconnect.channel_latency_cycles,
                   inside = m.partitions.latency_cycles;
    // A router takes two allocations, a traversal and the wire behind it; two cycles more lead from
    // and to the tiles.
    const uint32_t through = 4 * (h.hops + 1) + 2;
    const uint32_t bus = 3;  // 128 bytes at 62.5 GB/s, in whole cycles of 1.4 GHz
    const uint32_t request = end + through + end + m.l2.latency_cycles + 2 * inside;
    const uint32_t dram = 1 + m.dram.tRCD + m.dram.tCL + bus;
    // 136 bytes: two flits of the partition's switch, five of the mesh's.
    const uint32_t reply = inside + 1 + inside + end + through + (kReplyFlits - 1) + end;
    const report::RunResult r = one_load(m, h.core, line_of(m, h.partition, 0));
    EXPECT_EQ(counter(r, "sm.miss_latency"), request + dram + reply) << h.partition;
  }
}

TEST(Mesh, RowsFirstIsAKey) {
  // From tile 17 to tile 46: as many hops either way, and both ways are shortest.
  const config::MachineConfig m = opportunistic({"mesh.routing=xy"});
  const report::RunResult r = one_load(m, 15, line_of(m, 5, 0));
  EXPECT_EQ(counter(r, "noc.flit_links"), (kRequestFlits + kReplyFlits) * 8);
}

TEST(Mesh, PlacementIsAKey) {
  const std::string edges = "mesh.memory_tiles=0 15 16 31 32 47 48 63";
  const config::MachineConfig m = opportunistic({edges});
  // SM 0 is on tile 1 now: beside partition 0, and 7 + 6 hops from partition 7.
  EXPECT_EQ(counter(one_load(m, 0, line_of(m, 0, 0)), "noc.flit_links"), 6u * 1);
  EXPECT_EQ(counter(one_load(m, 0, line_of(m, 7, 0)), "noc.flit_links"), 6u * 13);
  // All traffic to the edges meets on the same links.
  const runtime::Recording& recording = workload("kmeans", 1'000'000);
  const auto cycles = [&](const config::MachineConfig& machine) {
    return sim::replay_on_cpu(recording, machine, config::load_policy("baseline"), {}).cycles;
  };
  EXPECT_GT(cycles(m), cycles(opportunistic()));
}

TEST(Mesh, CrossbarAndButterflyInItsPlace) {
  const config::MachineConfig crossbar = opportunistic({"interconnect.topology=crossbar"}),
                              butterfly = opportunistic({"interconnect.topology=butterfly"});
  for (const uint32_t partition : {0u, 7u}) {
    const uint32_t line = line_of(crossbar, partition, 0);
    EXPECT_EQ(counter(one_load(crossbar, 3, line), "noc.flit_hops"), 6u * 1 + kInPartition);
    EXPECT_EQ(counter(one_load(butterfly, 3, line), "noc.flit_hops"),
              6u * 3 + kInPartition);  // 4-ary 3-fly
  }
}

TEST(Mesh, RefusesWhatHasNoPlace) {
  const auto error = [](const std::string& key) -> std::string {
    try {
      config::load_machine("opportunistic", std::vector<std::string>{key});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error("mesh.memory_tiles=0 1 2 3 4 5 6").find("has 7 numbers"), std::string::npos);
  EXPECT_NE(error("mesh.memory_tiles=0 1 2 3 4 5 6 6").find("names a tile twice"),
            std::string::npos);
  EXPECT_NE(error("mesh.memory_tiles=0 1 2 3 4 5 6 64").find("the last one is 63"),
            std::string::npos);
  EXPECT_NE(error("mesh.memory_tiles=edge").find("numbers of tiles separated by blanks"),
            std::string::npos);
  EXPECT_NE(error("mesh.height=7").find("it must be at least"), std::string::npos);
  EXPECT_NE(error("interconnect.topology=switch").find("has no places"), std::string::npos);
  EXPECT_NE(error("l2.slices=16").find("it must be partitions.count, 8"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::testing
