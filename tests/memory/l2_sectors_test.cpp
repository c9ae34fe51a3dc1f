// What does an L2 slice with sectors fetch, keep and write back, and which requests wait for it?
#include "tests/memory/slice_rig.h"

namespace nearwarp::testing::l2_sectors_test {
namespace {

SliceRig sectors(uint8_t write_back, uint32_t set_bits = 1) {
  return SliceRig([=](L2SliceParams& p) {
    p.by_sectors = 1;
    p.write_back = write_back;
    p.index = folded(set_bits);
  });
}
void read(SliceRig& r, uint32_t cycle, uint32_t line, uint32_t wanted, uint32_t tag = 0) {
  r.request(PacketKind::kRead, cycle, line, tag, 1, wanted);
}
constexpr uint64_t kSector0 = 0xff, kSector1 = 0xff00;

TEST(L2Sectors, ReadsFetchWhatIsMissing) {
  for (const uint8_t back : {0, 1}) {
    SliceRig r = sectors(back);
    read(r, 10, 6, 0b0011);
    r.fill(100, 0, 0b0011);
    read(r, 200, 6, 0b0110);
    r.fill(300, 0, 0b0100);
    read(r, 400, 6, 0b0111);
    r.run();
    ASSERT_EQ(r.memory_in->items.size(), 2u);
    EXPECT_EQ(r.memory_in->items[0].packet.sectors, 0b0011u);
    EXPECT_EQ(r.memory_in->items[1].packet.sectors, 0b0100u);
    EXPECT_EQ(r.sm_in->items[0].packet.bytes, 8u + 64);
    EXPECT_EQ(r.sm_in->items[2].packet.bytes, 8u + 96);
    EXPECT_EQ(r.replied(1), 300u);
    EXPECT_EQ(r.replied(2), 400u + kLatency);
    EXPECT_EQ(r.counters().sector_misses, 3u);
    EXPECT_EQ(r.counters().read_hits, 1u);
  }
}

TEST(L2Sectors, AReadThatNamesNoneIsOfTheLine) {
  SliceRig r = sectors(1);
  read(r, 10, 6, 0);
  r.fill(100, 0, 0b1111);
  r.run();
  EXPECT_EQ(r.memory_in->items[0].packet.sectors, 0b1111u);
  EXPECT_EQ(r.sm_in->items[0].packet.bytes, 8u + 128);
}

TEST(L2Sectors, EachIsAnsweredWhenItsSectorsAreThere) {
  SliceRig r([](L2SliceParams& p) {
    p.by_sectors = p.write_back = 1;
    p.mshr_merges = 4;
  });
  read(r, 10, 6, 0b0001, 1);
  read(r, 11, 6, 0b0011, 2);  // asks for the second, waits for both
  read(r, 12, 6, 0b0010, 3);
  read(r, 13, 6, 0b0001, 4);
  r.fill(100, 0, 0b0010);
  r.fill(200, 0, 0b0001);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 2u);
  EXPECT_EQ(r.memory_in->items[1].packet.sectors, 0b0010u);
  const uint32_t tags[] = {3, 1, 2, 4};
  const uint64_t at[] = {100, 200, 201, 202};
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(r.sm_in->items[i].packet.tag, tags[i]);
    EXPECT_EQ(r.replied(i), at[i]);
  }
  EXPECT_EQ(r.counters().read_misses, 2u);
  EXPECT_EQ(r.counters().read_merges, 2u);
}

TEST(L2Sectors, AFillThatAnswersNobodyYetIsKept) {
  SliceRig r = sectors(1);
  read(r, 10, 6, 0b0011, 1);
  r.fill(100, 0, 0b0001);
  r.fill(150, 0, 0b0010);
  // One request, two replies: the counters of the rig expect one fill each.
  r.rig.run({kHop}, 100000);
  ASSERT_EQ(r.sm_in->items.size(), 1u);
  EXPECT_EQ(r.replied(0), 150u);
}

TEST(L2Sectors, WritesAllocateAndAreAcknowledgedHere) {
  SliceRig r = sectors(1);
  r.write(10, 6, kSector0 | kSector1, 9);
  read(r, 20, 6, 0b0011);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 0u);  // all that is read has been written
  const Packet& a = r.sm_in->items[0].packet;
  EXPECT_EQ(a.kind, PacketKind::kWriteAck);
  EXPECT_EQ(a.tag, 9u);
  EXPECT_EQ(a.dst, 1u);
  EXPECT_EQ(a.bytes, 8u);
  EXPECT_EQ(r.replied(0), 10u + kLatency);
  EXPECT_EQ(r.counters().sector_write_misses, 2u);
  EXPECT_EQ(r.counters().sectors_dirtied, 2u);
  EXPECT_EQ(r.counters().read_hits, 1u);
}

TEST(L2Sectors, WhatIsWrittenInPartIsFetchedWhenRead) {
  SliceRig r = sectors(1);
  r.write(10, 6, 0x7f | kSector1);
  read(r, 20, 6, 0b0010);
  read(r, 30, 6, 0b0011);
  r.fill(100, 0, 0b0001);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.memory_in->items[0].packet.sectors, 0b0001u);
  EXPECT_EQ(r.counters().sectors_dirtied, 2u);  // fetched, it is no less dirty
}

TEST(L2Sectors, PiecesMakeASectorReadable) {
  SliceRig r = sectors(1);
  r.write(10, 6, 0x0f);
  r.write(11, 6, 0xf0);
  read(r, 20, 6, 0b0001);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 0u);
  EXPECT_EQ(r.counters().sector_write_misses, 1u);
  EXPECT_EQ(r.counters().write_hits, 1u);
}

TEST(L2Sectors, AWriteWhileItsSectorIsOnTheWayStays) {
  SliceRig r = sectors(1);
  read(r, 10, 6, 0b0001);
  r.write(20, 6, 0x01);
  r.fill(100, 0, 0b0001);
  read(r, 200, 6, 0b0001);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.counters().sector_write_misses, 0u);
  EXPECT_EQ(r.counters().sectors_dirtied, 1u);
}

TEST(L2Sectors, OfALineThatGoesDirtySectorsAreWritten) {
  SliceRig r = sectors(1, 0);
  r.write(10, 1, kSector1);
  read(r, 20, 2, 0b0001);
  r.fill(100, 0, 0b0001);
  read(r, 200, 3, 0b0001);    // in the place of 1
  r.write(210, 4, kSector0);  // in the place of 2, which is clean
  r.fill(300, 0, 0b0001);
  r.acknowledge(400);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 3u);
  const Packet& w = r.memory_in->items[1].packet;
  EXPECT_EQ(w.kind, PacketKind::kWrite);
  EXPECT_EQ(w.line, 1u);
  EXPECT_EQ(w.sectors, 0b0010u);
  EXPECT_EQ(w.bytes, 8u + 32);
  EXPECT_EQ(w.src, 50u);
  EXPECT_EQ(r.asked(1), 200u + kLatency);
  EXPECT_EQ(r.memory_in->items[2].packet.kind, PacketKind::kRead);
  EXPECT_EQ(r.asked(2), 201u + kLatency);
  EXPECT_EQ(r.counters().evictions, 2u);
  EXPECT_EQ(r.counters().write_backs, 1u);
  EXPECT_EQ(r.counters().sectors_written_back, 1u);
}

TEST(L2Sectors, LinesThatWaitStayInTheirWays) {
  SliceRig r = sectors(1, 0);
  read(r, 10, 1, 0b0001);
  read(r, 11, 2, 0b0001);
  r.write(12, 3, kSector0);  // both ways wait
  r.fill(100, 1, 0b0001);
  r.fill(200, 0, 0b0001);
  r.run();
  EXPECT_EQ(r.replied(1), 100u + kLatency);
  EXPECT_EQ(r.sm_in->items[1].packet.kind, PacketKind::kWriteAck);
}

TEST(L2Sectors, AtomicsMakeTheirSectorsDirty) {
  SliceRig r = sectors(1);
  r.request(PacketKind::kAtomic, 10, 6, 4, 2, 1);
  r.fill(100, 0, 0b0001);
  r.request(PacketKind::kAtomic, 200, 6, 5, 2, 1);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.sm_in->items[1].packet.kind, PacketKind::kAtomicReply);
  EXPECT_EQ(r.replied(1), 200u + kLatency);
  EXPECT_EQ(r.counters().sectors_dirtied, 1u);
}

TEST(L2Sectors, ThroughTheyGoOnToMemory) {
  SliceRig r = sectors(0);
  r.write(10, 6, kSector0, 9, 3);
  read(r, 20, 6, 0b0001);
  r.fill(100, 0, 0b0001);
  r.request(PacketKind::kAtomic, 200, 6, 4, 2, 1);
  r.acknowledge(300);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 3u);
  EXPECT_EQ(r.memory_in->items[0].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(r.memory_in->items[0].packet.src, 3u);
  EXPECT_EQ(r.memory_in->items[2].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(r.memory_in->items[2].packet.src, 50u);
  EXPECT_EQ(r.counters().sectors_dirtied, 0u);
}

}  // namespace
}  // namespace nearwarp::testing::l2_sectors_test
