// Where do the operands of a chain meet, and how many links does that save? The paper's worked
// examples (sections 3.1, 3.2 and 4.1, figure 3) on the machine's tiles.
#include "host/mechanisms/opportunistic/meet_node.h"

#include <gtest/gtest.h>

#include "host/config/config.h"

namespace nearwarp::opportunistic {
namespace {

/// The tiles of machine `opportunistic`: SMs by number, partitions by number.
sim::Tiles paper_tiles() {
  const config::MachineConfig m = config::load_machine("opportunistic", {});
  sim::Tiles t{m.mesh.width, m.mesh.height, true, {}, config::memory_tiles(m)};
  for (uint32_t n = 0; n < t.width * t.height; ++n)
    if (std::find(t.memory.begin(), t.memory.end(), n) == t.memory.end()) t.sms.push_back(n);
  return t;
}

constexpr uint32_t kData = 5;  // weight of a packet with data; others have 1 (section 3.1)

/// The number of links that packets pass, and that number weighted by the packets.
struct Moved {
  uint32_t links = 0, weighted = 0;

  void add(uint32_t distance, uint32_t weight) {
    links += distance;
    weighted += distance * weight;
  }
};

struct Figure3 : ::testing::Test {
  sim::Tiles tiles = paper_tiles();
  uint32_t core = tiles.sms[15];
  uint32_t far(uint32_t a, uint32_t b) const { return hops(tiles.width, a, b); }
  uint32_t llc(uint32_t i) const { return tiles.memory[i]; }

  /// The packets of c = a + b, executed by the SM that wants it.
  Moved at_home(uint32_t a, uint32_t b, uint32_t c) const {
    Moved m;
    for (const uint32_t operand : {a, b}) {
      m.add(far(core, operand), 1);
      m.add(far(operand, core), kData);
    }
    m.add(far(core, c), kData);
    m.add(far(c, core), 1);
    return m;
  }
};

TEST_F(Figure3, DistancesOfTheText) {
  EXPECT_EQ(far(core, llc(5)), 8u);
  EXPECT_EQ(far(core, llc(6)), 5u);
  EXPECT_EQ(far(core, llc(7)), 8u);
}

TEST_F(Figure3, OnePartition) {  // scenario 1
  const Moved m = at_home(llc(5), llc(5), llc(5));
  EXPECT_EQ(m.links, 48u);
  EXPECT_EQ(m.weighted, 144u);
  Moved offloaded;
  offloaded.add(far(core, llc(5)), 1);  // ComputePacket
  offloaded.add(far(llc(5), core), 1);  // acknowledgement
  EXPECT_EQ(offloaded.links, 16u);
  EXPECT_EQ(offloaded.weighted, 16u);
}

TEST_F(Figure3, ThreePartitions) {  // scenario 2
  const Moved m = at_home(llc(5), llc(6), llc(7));
  EXPECT_EQ(m.links, 42u);
  EXPECT_EQ(m.weighted, 126u);
  const std::optional<uint32_t> meet = meet_node(tiles, core, llc(5), llc(6));
  ASSERT_TRUE(meet.has_value());
  EXPECT_EQ(*meet, tiles.sms[36]);
  Moved offloaded;
  offloaded.add(far(core, *meet), 1);
  for (const uint32_t operand : {llc(5), llc(6)}) {
    offloaded.add(far(*meet, operand), 1);
    offloaded.add(far(operand, *meet), kData);
  }
  offloaded.add(far(*meet, llc(7)), kData);
  offloaded.add(far(llc(7), *meet), 1);
  offloaded.add(far(*meet, core), 1);
  EXPECT_EQ(offloaded.links, 30u);
  EXPECT_EQ(offloaded.weighted, 78u);
}

TEST_F(Figure3, NoneWhereWaysPartAtTheSm) {  // section 4.1: LLCs 0 and 6
  EXPECT_FALSE(meet_node(tiles, core, llc(0), llc(6)).has_value());
}

TEST_F(Figure3, AlongThePacketsRouteAlone) {  // YX: what the figure shows
  EXPECT_EQ(meet_node(tiles, core, llc(5), llc(6), Ways::kColumnsFirst), tiles.sms[36]);
}

TEST(MeetNode, OnEqualWaysAlone) {
  // A square of three; the SM on 0, partitions on 5 (1 down, 2 right) and 7 (2 down, 1 right).
  const sim::Tiles t{3, 3, true, {0, 1, 2, 3, 4, 6, 8}, {5, 7}};
  // Columns first: 0 3 4 5 and 0 3 6 7; rows first: 0 1 2 5 and 0 1 4 7.
  EXPECT_EQ(meet_node(t, 0, 5, 7, Ways::kColumnsFirst), 3u);
  EXPECT_EQ(meet_node(t, 0, 5, 7, Ways::kRowsFirst), 1u);
  EXPECT_EQ(meet_node(t, 0, 5, 7, Ways::kEither), 4u);
}

TEST(MeetNode, PathsAlongRowsAndColumns) {
  EXPECT_EQ(path(4, 5, 14, true), (std::vector<uint32_t>{5, 9, 13, 14}));
  EXPECT_EQ(path(4, 5, 14, false), (std::vector<uint32_t>{5, 6, 10, 14}));
  EXPECT_EQ(path(4, 14, 5, true), (std::vector<uint32_t>{14, 10, 6, 5}));
  EXPECT_EQ(path(4, 7, 7, true), std::vector<uint32_t>{7});
}

TEST(MeetNode, LiesOnAShortestWayToBoth) {
  const sim::Tiles t = paper_tiles();
  uint32_t found = 0;
  for (const uint32_t sm : t.sms)
    for (const uint32_t a : t.memory)
      for (const uint32_t b : t.memory) {
        const std::optional<uint32_t> meet = meet_node(t, sm, a, b);
        EXPECT_EQ(meet, meet_node(t, sm, b, a));
        if (!meet) continue;
        found += 1;
        EXPECT_NE(*meet, sm);
        EXPECT_EQ(std::count(t.memory.begin(), t.memory.end(), *meet), 0);
        for (const uint32_t end : {a, b})
          EXPECT_EQ(hops(t.width, sm, *meet) + hops(t.width, *meet, end), hops(t.width, sm, end));
      }
  EXPECT_GT(found, 56u * 8u);
}

TEST(MeetNode, TheNearestToBoth) {
  // A row of five: the SM on 0, partitions on 3 and 4. Tiles 1 and 2 are on both ways.
  const sim::Tiles t{5, 1, true, {0, 1, 2}, {3, 4}};
  EXPECT_EQ(meet_node(t, 0, 3, 4), 2u);
  EXPECT_EQ(meet_node(t, 2, 3, 4), std::nullopt);
}

}  // namespace
}  // namespace nearwarp::opportunistic
