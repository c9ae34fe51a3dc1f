// What does a write to an L2 slice with write-back of whole lines cost, who acknowledges it and
// when, and what is written back?
#include "tests/memory/slice_rig.h"

namespace nearwarp::testing::l2_dirty_lines_test {
namespace {

constexpr uint64_t kAll = 0xffffffff;  // words of a line

SliceRig lines(L2WriteMiss miss = L2WriteMiss::kAllocate, uint32_t set_bits = 1) {
  return SliceRig([=](L2SliceParams& p) {
    p.write_back = 1;
    p.write_miss = miss;
    p.index = folded(set_bits);
  });
}

TEST(L2DirtyLines, AWriteOfAWholeLineStaysAndFetchesNothing) {
  SliceRig r = lines();
  r.write(10, 6, kAll, 3, 9);
  r.read(100, 6);
  r.run();
  EXPECT_TRUE(r.memory_in->items.empty());
  const Packet& ack = r.sm_in->items.at(0).packet;
  EXPECT_EQ(ack.kind, PacketKind::kWriteAck);
  EXPECT_EQ(ack.tag, 3u);
  EXPECT_EQ(ack.dst, 9u);
  EXPECT_EQ(ack.bytes, 8u);
  EXPECT_EQ(r.replied(0), 10u + kLatency);
  EXPECT_EQ(r.replied(1), 100u + kLatency);
  EXPECT_EQ(r.counters().write_allocates, 1u);
  EXPECT_EQ(r.counters().read_hits, 1u);
  EXPECT_EQ(r.counters().lines_dirtied, 1u);
}

TEST(L2DirtyLines, AWriteOfAPartGoesOnToMemoryUnlessTheLineIsThere) {
  SliceRig r = lines();
  r.write(10, 6, 0xff, 3, 9);
  r.read(20, 8);
  r.fill(100, 0);
  r.write(200, 8, 0xff, 4, 9);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 2u);
  const Packet& w = r.memory_in->items[0].packet;
  EXPECT_EQ(w.kind, PacketKind::kWrite);
  EXPECT_EQ(w.src, 9u);  // whom memory acknowledges
  EXPECT_EQ(w.sectors, 1u);
  EXPECT_EQ(r.asked(0), 10u + kLatency);
  ASSERT_EQ(r.sm_in->items.size(), 2u);
  EXPECT_EQ(r.replied(1), 200u + kLatency);
  EXPECT_EQ(r.counters().writes_through, 1u);
  EXPECT_EQ(r.counters().write_hits, 1u);
  EXPECT_EQ(r.counters().lines_dirtied, 1u);
}

TEST(L2DirtyLines, AllSectorsAreNotAllWords) {
  SliceRig r = lines();
  r.write(10, 6, kAll & ~uint64_t{2});
  r.run();
  EXPECT_EQ(r.memory_in->items.at(0).packet.sectors, 15u);
  EXPECT_EQ(r.counters().write_allocates, 0u);
}

TEST(L2DirtyLines, ALineUnderWayTakesNoWrites) {
  SliceRig r = lines();
  r.read(10, 6);
  r.write(20, 6, kAll, 3, 9);
  r.fill(100, 0);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 2u);
  EXPECT_EQ(r.memory_in->items[1].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(r.counters().lines_dirtied, 0u);
}

TEST(L2DirtyLines, ADirtyLineIsWrittenBackAsAWholeWhenItIsReplaced) {
  SliceRig r = lines(L2WriteMiss::kAllocate, 0);  // one set of two ways
  r.write(10, 1, kAll);
  r.write(20, 2, kAll);
  r.read(30, 1);         // 2 is the older one now
  r.write(40, 3, kAll);  // replaces 2
  r.read(50, 4);         // replaces 1
  r.acknowledge(100);
  r.acknowledge(101);
  r.fill(110, 0);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 3u);
  for (const auto& [at, line, cycle] : {std::tuple{0u, 2u, 40u}, {1u, 1u, 50u}}) {
    const Packet& w = r.memory_in->items[at].packet;
    EXPECT_EQ(w.kind, PacketKind::kWrite);
    EXPECT_EQ(w.line, line);
    EXPECT_EQ(w.src, 50u);  // the slice's own
    EXPECT_EQ(w.sectors, 15u);
    EXPECT_EQ(w.bytes, 8u + 128);
    EXPECT_EQ(r.asked(at), cycle + kLatency);
  }
  // Lines that are written back go first.
  EXPECT_EQ(r.memory_in->items[2].packet.kind, PacketKind::kRead);
  EXPECT_EQ(r.asked(2), 51u + kLatency);
  EXPECT_EQ(r.counters().write_backs, 2u);
  EXPECT_EQ(r.counters().evictions, 2u);
  EXPECT_EQ(r.counters().lines_dirtied, 3u);
}

TEST(L2DirtyLines, AWriteThatGoesThrough) {
  SliceRig r = lines(L2WriteMiss::kThrough);
  r.write(10, 6, kAll, 3, 9);
  r.run();
  EXPECT_EQ(r.memory_in->items.at(0).packet.src, 9u);
  EXPECT_TRUE(r.sm_in->items.empty());
  EXPECT_EQ(r.counters().writes_through, 1u);
}

TEST(L2DirtyLines, AWriteThatFetchesGoesThroughAndItsLineComes) {
  SliceRig r = lines(L2WriteMiss::kFetch);
  r.write(10, 6, kAll, 3, 9);
  r.read(20, 6, 5, 8);  // waits for it
  r.fill(100, 0);
  r.write(200, 7, 0xff);
  r.fill(300, 0);
  r.write(400, 7, 0xff);  // there
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 4u);
  EXPECT_EQ(r.memory_in->items[0].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(r.memory_in->items[0].packet.src, 9u);
  EXPECT_EQ(r.memory_in->items[1].packet.kind, PacketKind::kRead);
  EXPECT_EQ(r.asked(1), 11u + kLatency);
  EXPECT_EQ(r.replied(0), 100u);
  EXPECT_EQ(r.replied(1), 400u + kLatency);
  EXPECT_EQ(r.counters().write_fetches, 2u);
  EXPECT_EQ(r.counters().read_merges, 1u);
  EXPECT_EQ(r.counters().lines_dirtied, 1u);
}

TEST(L2DirtyLines, AWriteThatFetchesOnWriteWaitsForItsLineAndStays) {
  SliceRig r = lines(L2WriteMiss::kFetchOnWrite);
  r.write(10, 6, 0xff, 3, 9);
  r.write(20, 6, 0xff00, 4, 8);  // waits for it, too
  r.fill(100, 0);
  r.write(200, 7, kAll, 5, 9);  // a whole line
  r.write(300, 6, 1, 6, 9);     // there
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.memory_in->items[0].packet.kind, PacketKind::kRead);
  EXPECT_EQ(r.asked(0), 10u + kLatency);
  ASSERT_EQ(r.sm_in->items.size(), 4u);
  for (const auto& [at, tag, cycle] : {std::tuple{0u, 3u, 100u},
                                       {1u, 4u, 101u},
                                       {2u, 5u, 200 + kLatency},
                                       {3u, 6u, 300 + kLatency}}) {
    EXPECT_EQ(r.sm_in->items[at].packet.kind, PacketKind::kWriteAck);
    EXPECT_EQ(r.sm_in->items[at].packet.tag, tag);
    EXPECT_EQ(r.replied(at), cycle);
  }
  EXPECT_EQ(r.counters().write_fetches, 1u);
  EXPECT_EQ(r.counters().write_waits, 2u);
  EXPECT_EQ(r.counters().write_allocates, 1u);
  EXPECT_EQ(r.counters().writes_through, 0u);
  EXPECT_EQ(r.counters().lines_dirtied, 2u);
}

TEST(L2DirtyLines, WritesThatWaitForALineAreNoMoreThanAnMshrHolds) {
  SliceRig r = lines(L2WriteMiss::kFetchOnWrite);
  for (uint32_t k = 0; k < 3; ++k) r.write(10 + k, 6, 1, k, 9);  // two fit
  r.fill(100, 0);
  r.run();
  EXPECT_EQ(r.replied(1), 101u);
  EXPECT_GE(r.replied(2), 100u + kLatency);  // a hit
  EXPECT_EQ(r.counters().write_hits, 1u);
}

TEST(L2DirtyLines, AtomicsStay) {
  SliceRig r = lines();
  r.request(PacketKind::kAtomic, 10, 6);
  r.fill(100, 0);
  r.request(PacketKind::kAtomic, 200, 6);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.memory_in->items[0].packet.kind, PacketKind::kRead);
  EXPECT_EQ(r.counters().lines_dirtied, 1u);
}

TEST(L2DirtyLines, AWriteThatHasToWriteBackWaitsForRoom) {
  // The ring of requests holds kLatency + 4; writes of parts fill it while nothing leaves.
  SliceRig r = lines(L2WriteMiss::kAllocate, 0);
  r.write(10, 1, kAll);
  r.write(11, 2, kAll);
  for (uint32_t k = 0; k < 40; ++k) r.write(20, 100 + k, 1);
  r.write(21, 3, kAll);
  r.memory_in->from = 5000 * kPeriod;
  r.acknowledge(6000);
  r.run();
  EXPECT_EQ(r.counters().write_backs, 1u);
  EXPECT_EQ(r.counters().writes_through, 40u);
  EXPECT_EQ(r.memory_in->items.back().packet.line, 1u);
  EXPECT_GT(r.replied(2), 5000u);
}

}  // namespace
}  // namespace nearwarp::testing::l2_dirty_lines_test
