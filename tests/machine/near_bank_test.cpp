// Cores below banks of their own: is what lies above another core further away by the routers and
// links on the way, and are TSVs as wide as the paper says?
#include <gtest/gtest.h>

#include <algorithm>

#include "host/timing/machine/routes.h"
#include "host/timing/machine/shapes/shapes.h"
#include "tests/machine/one_load.h"
#include "tests/machine/streams.h"

namespace nearwarp::testing {
namespace {

constexpr uint32_t kCoresPerRow = 4, kProcessorsPerRow = 4;

/// Column and row among all cores.
struct Place {
  uint32_t x, y;
};
Place place_of(uint32_t core) {
  const uint32_t processor = core / 16, c = core % 16;
  return {processor % kProcessorsPerRow * kCoresPerRow + c % kCoresPerRow,
          processor / kProcessorsPerRow * 4 + c / kCoresPerRow};
}
uint32_t apart(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

TEST(NearBank, UnloadedLatencyIsTheSumOfItsParts) {
  const config::MachineConfig m = config::load_machine("mpu");
  const uint32_t hop = m.interconnect.channel_latency_cycles, tsv = m.near_bank.tsv_latency_cycles;
  // In cycles of 2 GHz, of which core and DRAM have half as many.
  const uint32_t dram = 2 * (1 + m.dram.tRCD + m.dram.tCL) + 16;  // 128 bytes at 16 GB/s
  const uint32_t router = m.interconnect.router_latency_cycles, link = m.links.latency_cycles;
  struct {
    uint32_t from, to;
  } const pairs[] = {{0, 0}, {0, 1}, {5, 10}, {0, 15}, {15, 0}, {3, 16}, {0, 127}, {100, 20}};
  for (const auto [from, to] : pairs) {
    const Place a = place_of(from), b = place_of(to);
    const uint32_t dies = apart(a.x / 4, b.x / 4) + apart(a.y / 4, b.y / 4);
    const uint32_t hops = apart(a.x, b.x) + apart(a.y, b.y) - dies;
    const report::RunResult r = one_load(m, from, line_of(m, to, 2));
    // A quarter of an off-chip link, 8 GB/s: 2 cycles for 8 bytes and 34 for 136.
    uint32_t cycles = hop + hops * router + dies * (2 + link) + tsv + tsv;
    cycles += cycles % 2;  // to the DRAM's next one
    // 136 bytes are 17 flits of the TSVs, the last of which arrives: at the core itself, or at its
    // router, of which they are 5.
    const bool own = from == to;
    cycles += dram + tsv + 16 + tsv;
    if (!own) cycles += hops * (4 + router) + dies * (34 + link) + 4 + hop;
    EXPECT_EQ(counter(r, "sm.miss_latency"), (cycles + 1) / 2) << from << " to " << to;
    // A request of one flit and a reply of five, at both ends' routers too; the core's own data
    // passes none on its way down.
    EXPECT_EQ(counter(r, "noc.flit_hops"), own ? 1 : 6 * (hops + dies + 1));
    EXPECT_EQ(counter(r, "stack.to_sms.packets"), own ? 1 : 0);
    EXPECT_EQ(r.traffic.memory_to_memory_bytes, dies * 144);
  }
}

TEST(NearBank, PacketsTakeTheRowFirst) {
  // Rows first: this keeps packets from waiting for each other in a circle.
  const config::MachineConfig m = config::load_machine("mpu");
  const sim::ImageTables image = sim::build_image(workload("vector-add", 10'000), m);
  const sim::Graph g = sim::make_graph({m, image});
  const std::vector<sim::LinksOfNode> links = sim::links_by_node(g);
  const sim::Ways ways(g, links);
  const std::vector<sim::NodeId> routers = g.members(g.class_named("router")),
                                 sms = g.members(g.class_named("sm")),
                                 units = g.members(g.class_named("dram"));
  ASSERT_EQ(routers.size(), 128u);
  const auto goes_right = [&](uint32_t from, uint32_t to, uint16_t output) {
    const sim::NodeId next = g.links[links[routers[from]].out.at(output)].to.node;
    const Place a = place_of(from), b = place_of(to);
    if (a.x == b.x && a.y == b.y)
      return std::find(routers.begin(), routers.end(), next) == routers.end();
    const Place n = place_of(g.nodes[next].stack);  // every node of a core has its number
    return a.x != b.x ? n.y == a.y && apart(n.x, b.x) + 1 == apart(a.x, b.x)
                      : n.x == a.x && apart(n.y, b.y) + 1 == apart(a.y, b.y);
  };
  for (uint32_t from = 0; from < 128; ++from) {
    const std::vector<uint16_t> requests = ways.requests(routers[from]),
                                replies = ways.replies(routers[from]);
    for (uint32_t to = 0; to < 128; ++to) {
      EXPECT_TRUE(goes_right(from, to, requests[units[4 * to]]));
      EXPECT_TRUE(goes_right(from, to, replies[sms[to]]));
    }
  }
}

TEST(NearBank, ACoreReachesItsBanksAtTheWidthOfItsTsvs) {
  const config::MachineConfig m =
      config::load_machine("mpu", std::vector<std::string>{"dram.tREFI=0"});
  const auto reached = [&](uint32_t away) {
    const Streams s{128, 1, 16, away};
    const report::RunResult r =
        sim::replay_on_cpu(record(s, m), m, config::load_policy("baseline"), {});
    EXPECT_EQ(counter(r, "dram.reads"), s.blocks * 32 * s.lines_each);
    EXPECT_EQ(r.traffic.memory_to_memory_bytes == 0, away == 0);
    return mbps(s, m, r);
  };
  // Section IV-A: 64 bits at 2 GHz for each of 128 cores; a header of 8 bytes to 128 of data.
  const double all = 128 * 16'000.0 * 128 / 136;
  const double own = reached(0);
  EXPECT_LT(own, all);
  EXPECT_GT(own, 0.85 * all);
  // From the next processor all goes over the off-chip links.
  EXPECT_LT(reached(16), 0.2 * all);
}

TEST(NearBank, ConsecutiveBytesStayWithACore) {
  const config::MachineConfig m =
      config::load_machine("mpu", std::vector<std::string>{"near_bank.interleave_bytes=4096"});
  const AddressMap map = sim::machine_address_map(m);
  for (LineAddr line = 0; line < 1u << 14; ++line) EXPECT_EQ(map.stack_of(line), line / 32 % 128);
}

TEST(NearBank, OtherNumbersOfCoresRun) {
  const runtime::Recording& recording = workload("kmeans", 300'000);
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"gpu.sms=16", "near_bank.processors=1",
                                 "near_bank.processors_per_row=1"},
        {"gpu.sms=24", "near_bank.processors=4", "near_bank.processors_per_row=2",
         "near_bank.cores_per_row=3"},
        {"gpu.sms=6", "near_bank.processors=6", "near_bank.processors_per_row=6",
         "near_bank.cores_per_row=1"},
        {"gpu.sms=1", "near_bank.processors=1", "near_bank.processors_per_row=1",
         "near_bank.cores_per_row=1", "near_bank.units=1"}}) {
    const report::RunResult r = sim::replay_on_cpu(recording, config::load_machine("mpu", keys),
                                                   config::load_policy("baseline"), {});
    EXPECT_EQ(r.warp_instructions, recording.warp_instructions) << keys[0];
  }
}

}  // namespace
}  // namespace nearwarp::testing
