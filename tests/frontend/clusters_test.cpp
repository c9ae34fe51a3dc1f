// On which SMs do clusters of thread blocks begin, and when, and do their barriers work?
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/front_end_rig.h"

namespace nearwarp::frontend {
namespace {

using namespace nearwarp::testing;

/// SM i is in GPC i modulo their number.
struct ClusterBench : FrontEndRig<sm::MechanismList<>> {
  ClusterBench(uint32_t sms, uint32_t gpcs) : FrontEndRig(sms) {
    program.block({});
    p.dispatch.gpcs = gpcs;
    p.dispatch.max_running = 2;
  }
  void build() {
    FrontEndRig::build([](FrontEndState&) {});
  }
  /// A launch of clusters of `cluster` blocks, so many of which fit on an SM.
  void launch(uint32_t blocks, uint32_t per_sm, uint32_t cluster) {
    program.launch_after({}, blocks, 1, per_sm);
    program.launches.back().cluster = cluster;
  }
  void say(Tick at, uint32_t sm, PacketKind kind, uint32_t tag, uint32_t line, uint32_t rank) {
    Packet m;
    m.kind = kind;
    m.tag = tag;
    m.line = line;
    m.extra = rank;
    from_sm[sm]->items.push_back({at, m, 0});
  }
  struct Message {
    Tick at = 0;
    uint32_t launch = 0, block = 0;
    bool operator==(const Message&) const = default;
  };
  std::vector<Message> blocks(uint32_t sm) {
    std::vector<Message> all;
    for (const auto& i : to_sm[sm]->items)
      if (i.packet.kind == PacketKind::kLaunchBlock)
        all.push_back({i.at, i.packet.tag, i.packet.line});
    return all;
  }
  /// When a thread block was told that its cluster is at the barrier.
  std::vector<Message> passes(uint32_t sm) {
    std::vector<Message> all;
    for (const auto& i : to_sm[sm]->items)
      if (i.packet.kind == PacketKind::kPassClusterBarrier) all.push_back({i.at, 0, i.packet.tag});
    return all;
  }
};
using Messages = std::vector<ClusterBench::Message>;

std::ostream& operator<<(std::ostream& out, const ClusterBench::Message& m) {
  return out << m.at << ": block " << m.block << " of " << m.launch;
}

TEST(Clusters, BeginOnOneGpcEachBlockOnAnSmInTurns) {
  ClusterBench b(4, 2);
  b.launch(8, 2, 2);
  b.build();
  b.run();
  // From cycle 10 on, and four on the way: one cluster on each GPC, then the next ones.
  EXPECT_EQ(b.blocks(0), (Messages{{14, 0, 0}, {15, 0, 4}}));
  EXPECT_EQ(b.blocks(2), (Messages{{14, 0, 1}, {15, 0, 5}}));
  EXPECT_EQ(b.blocks(1), (Messages{{14, 0, 2}, {15, 0, 6}}));
  EXPECT_EQ(b.blocks(3), (Messages{{14, 0, 3}, {15, 0, 7}}));
  EXPECT_EQ(b.s().counters.blocks_dispatched, 8u);
}

TEST(Clusters, LargerThanTheGpcHaveSeveralBlocksOnAnSm) {
  ClusterBench b(4, 2);
  b.launch(8, 2, 4);
  b.build();
  b.run();
  EXPECT_EQ(b.blocks(0), (Messages{{14, 0, 0}, {15, 0, 2}}));
  EXPECT_EQ(b.blocks(2), (Messages{{14, 0, 1}, {15, 0, 3}}));
  EXPECT_EQ(b.blocks(1), (Messages{{14, 0, 4}, {15, 0, 6}}));
  EXPECT_EQ(b.blocks(3), (Messages{{14, 0, 5}, {15, 0, 7}}));
  const ClusterPlaces places = LaunchBlock::of(b.to_sm[0]->items[1].packet).places;  // rank 2
  EXPECT_EQ((std::vector<uint32_t>{places.at(0), places.at(1), places.at(2), places.at(3)}),
            (std::vector<uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(places.at(4), kNoSmPlace);
  EXPECT_EQ(places.at(15), kNoSmPlace);
}

TEST(Clusters, WaitUntilOneGpcHasRoomForAllBlocks) {
  ClusterBench b(4, 2);
  b.program.launch_after({}, 3, 1, 1);
  b.launch(2, 1, 2);
  b.build();
  b.say(30, 0, PacketKind::kBlockDone, 0, 0, 0);
  b.say(50, 1, PacketKind::kBlockDone, 0, 1, 0);
  b.run();
  // SMs 0 and 3 are free from cycle 34 on, but in two GPCs.
  EXPECT_EQ(b.blocks(0), (Messages{{14, 0, 0}}));
  EXPECT_EQ(b.blocks(1), (Messages{{14, 0, 1}, {58, 1, 0}}));
  EXPECT_EQ(b.blocks(2), (Messages{{14, 0, 2}}));
  EXPECT_EQ(b.blocks(3), (Messages{{58, 1, 1}}));
}

TEST(Clusters, HoldTheirRoomAgainstYoungerLaunches) {
  ClusterBench b(2, 1);
  b.launch(4, 2, 4);
  b.program.launch_after({}, 2, 1, 2);
  b.build();
  b.run();
  // Room for all four blocks is taken at once, though the last two leave a cycle later.
  EXPECT_EQ(b.blocks(0), (Messages{{14, 0, 0}, {15, 0, 2}}));
  EXPECT_EQ(b.blocks(1), (Messages{{14, 0, 1}, {15, 0, 3}}));
}

// At most until they have no blocks left (docs/dispatch.md).
TEST(Clusters, WaitWhileYoungerLaunchesTakeWhatBecomesFree) {
  ClusterBench b(2, 1);
  b.launch(4, 1, 2);
  b.program.launch_after({}, 3, 1, 1);
  b.build();
  // The first cluster ends block by block; block 0 of the younger launch takes the room of the
  // first.
  b.say(30, 0, PacketKind::kBlockDone, 1, 0, 0);
  b.say(40, 1, PacketKind::kBlockDone, 1, 1, 1);
  for (const auto& [at, sm, block] : {std::array<uint32_t, 3>{60, 0, 4}, {80, 1, 5}, {100, 0, 6}})
    b.say(at, sm, PacketKind::kBlockDone, 0, block, 0);
  b.run();
  EXPECT_EQ(b.blocks(0), (Messages{{14, 0, 0}, {38, 1, 0}, {68, 1, 2}, {108, 0, 2}}));
  EXPECT_EQ(b.blocks(1), (Messages{{14, 0, 1}, {48, 1, 1}, {108, 0, 3}}));
}

TEST(Clusters, BarriersMeetAtTheFrontEnd) {
  ClusterBench b(4, 2);
  b.launch(4, 1, 2);
  b.build();
  // In the first cluster, SM 0 has rank 0, SM 2 rank 1; in the second SM 1 has rank 0.
  b.say(30, 0, PacketKind::kAtClusterBarrier, 0, 0, 0);
  b.say(35, 1, PacketKind::kAtClusterBarrier, 1, 0, 0);
  b.say(40, 2, PacketKind::kAtClusterBarrier, 0, 0, 1);
  b.say(50, 0, PacketKind::kAtClusterBarrier, 0, 0, 0);
  b.say(60, 2, PacketKind::kBlockDone, 1, 1, 1);  // it has ended: nobody waits for it
  b.run();
  EXPECT_EQ(b.passes(0), (Messages{{48, 0, 0}, {68, 0, 0}}));
  EXPECT_EQ(b.passes(2), (Messages{{48, 0, 1}}));
  EXPECT_TRUE(b.passes(1).empty());
  EXPECT_TRUE(b.passes(3).empty());
}

TEST(Clusters, PlacesAreUsedAgain) {
  ClusterBench b(2, 1);
  b.launch(40, 1, 2);
  b.build();
  // Each cluster ends ten cycles after its blocks have come.
  for (uint32_t k = 0; k < 20; ++k)
    for (uint32_t rank = 0; rank < 2; ++rank)
      b.say(24 + 20 * k, rank, PacketKind::kBlockDone, 1, 2 * k + rank, rank);
  b.run(600);
  ASSERT_EQ(b.blocks(0).size(), 20u);
  for (uint32_t k = 0; k < 20; ++k) {
    EXPECT_EQ(b.blocks(0)[k], (ClusterBench::Message{k == 0 ? 14 : 12 + 20 * Tick{k}, 0, 2 * k}));
    EXPECT_EQ(b.blocks(1)[k],
              (ClusterBench::Message{k == 0 ? 14 : 12 + 20 * Tick{k}, 0, 2 * k + 1}));
  }
  EXPECT_EQ(b.rig.arena.get(b.s().dispatch.launches)[0].end, 408u);
}

}  // namespace
}  // namespace nearwarp::frontend
