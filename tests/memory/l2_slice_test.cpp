// Are latency, hits, misses, merging, exhaustion, write policy, atomics and invalidation of an L2
// slice right?
#include "tests/memory/slice_rig.h"

namespace nearwarp::testing::l2_slice_test {
namespace {

TEST(L2Slice, MissGoesToTheRightVaultAfterTheLatency) {
  SliceRig r;
  r.read(10, 6, 77, 3);
  r.fill(100, 0);
  r.run();
  EXPECT_EQ(r.asked(0), 10u + kLatency);
  const Packet& q = r.memory_in->items[0].packet;
  EXPECT_EQ(q.kind, PacketKind::kRead);
  EXPECT_EQ(q.dst, 102u);
  EXPECT_EQ(q.src, 50u);
  EXPECT_EQ(q.bytes, 8u);
  EXPECT_EQ(r.replied(0), 100u);
  const Packet& a = r.sm_in->items[0].packet;
  EXPECT_EQ(a.kind, PacketKind::kReadReply);
  EXPECT_EQ(a.tag, 77u);
  EXPECT_EQ(a.dst, 3u);
  EXPECT_EQ(a.line, 6u);
  EXPECT_EQ(a.bytes, 136u);
}

TEST(L2Slice, LinesElsewhereAreFetchedThereUntilItIsEmptied) {
  SliceRig r;
  L2SliceState& s = r.rig.arena.get(r.state)[0];
  s.elsewhere = Endpoint{200};
  s.elsewhere_end = 7;
  r.read(10, 6);  // of the lines that are not in this memory yet
  r.read(20, 7);  // not of them
  r.write(30, 5, 1);
  r.fill(100, 0);
  r.fill(110, 1);
  r.read(200, 6);  // is kept, wherever it came from
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 3u);
  EXPECT_EQ(r.memory_in->items[0].packet.dst, 200u);
  EXPECT_EQ(r.memory_in->items[1].packet.dst, 103u);
  EXPECT_EQ(r.memory_in->items[2].packet.dst, 200u);
  EXPECT_EQ(r.counters().read_hits, 1u);
  l2_flush(s, r.rig.arena.base());
  for (uint32_t at = 0; at < s.tags.count; ++at)
    EXPECT_EQ(s.tags.in(r.rig.arena.base())[at], kNoLine);
}

TEST(L2Slice, LinesPutThereBeforehandGoInOrderOfTheirLastUse) {
  SliceRig r([](L2SliceParams& p) { p.ways = 4; });
  L2SliceState& s = r.rig.arena.get(r.state)[0];
  std::byte* base = r.rig.arena.base();
  const auto put = [&](LineAddr line) { l2_detail::preload(r.params, s, base, 0, line, 0); };
  const auto has = [&](LineAddr line) {
    return l2_detail::ways_of(r.params, s, base, 0, line) != 0;
  };
  for (LineAddr line = 1; line <= r.params.ways; ++line) put(line);
  put(1);                  // is there, and is used again
  put(r.params.ways + 1);  // in a full set
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  for (LineAddr line = 3; line <= r.params.ways + 1; ++line) EXPECT_TRUE(has(line)) << line;
}

TEST(L2Slice, HitLeavesAfterTheLatency) {
  SliceRig r;
  r.read(10, 6);
  r.fill(100, 0);
  r.read(200, 6, 5);
  r.run();
  EXPECT_EQ(r.replied(1), 200u + kLatency);
  EXPECT_EQ(r.counters().read_hits, 1u);
}

TEST(L2Slice, OneLookUpPerCycle) {
  SliceRig r;
  r.read(10, 6);
  r.fill(100, 0);
  for (uint32_t i = 0; i < 4; ++i) r.read(200, 6, i);
  r.run();
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(r.replied(1 + i), 200u + i + kLatency);
}

TEST(L2Slice, MergesAndAnswersOnePerCycle) {
  SliceRig r;
  r.read(10, 6, 1, 1);
  r.read(20, 6, 2, 2);
  r.fill(100, 0);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.replied(0), 100u);
  EXPECT_EQ(r.replied(1), 101u);
  EXPECT_EQ(r.sm_in->items[1].packet.dst, 2u);
  EXPECT_EQ(r.counters().read_merges, 1u);
  EXPECT_EQ(r.counters().request_wait, 0u);
  EXPECT_EQ(r.counters().reply_wait, 1u * kPeriod);  // the second one's, behind the first
}

TEST(L2Slice, FullMergeListHoldsTheRequestUntilTheFill) {
  SliceRig r;
  for (uint32_t i = 0; i < 3; ++i) r.read(10 + i, 6, i);  // the entry answers two
  r.fill(100, 0);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.counters().read_merges, 1u);
  EXPECT_EQ(r.counters().read_hits, 1u);
  EXPECT_EQ(r.replied(2), 100u + kLatency);  // looked up in the cycle of the fill
}

TEST(L2Slice, MshrExhaustionHoldsTheRequest) {
  SliceRig r([](L2SliceParams& p) {
    p.index = folded(3);
    p.mshr_entries = 2;
  });
  r.read(10, 0);
  r.read(11, 1);
  r.read(12, 2);
  r.fill(100, 1);
  r.fill(200, 0);
  r.fill(300, 1);
  r.run();
  EXPECT_EQ(r.asked(2), 100u + kLatency);
  EXPECT_EQ(r.memory_in->items[2].packet.tag, 1u);  // the entry that became free
  EXPECT_EQ(r.counters().request_wait, (100u - 12) * kPeriod);
  EXPECT_EQ(r.counters().reply_wait, 0u);
}

// Lines that are read in turns miss again if they share a set of one way.
TEST(L2Slice, ASetIsChosenByTheFunction) {
  struct Case {
    cache::SetIndex index;
    uint32_t first, second;
    bool together;
  };
  using enum cache::SetFunction;
  for (const Case& c :
       {Case{{4, 2, kLinear}, 0, 4, true}, Case{{4, 2, kLinear}, 0, 5, false},
        Case{{4, 2, kXor}, 0, 4, false}, Case{{4, 2, kXor}, 0, 5, true},
        Case{{4, 2, kXor}, 0, 16, true}, Case{{4, 2, kFolded}, 0, 16, false},
        Case{{4, 2, kFolded}, 0, 17, true}, Case{{4, 2, kPolynomial, 0b11}, 0, 4, false},
        Case{{4, 2, kPolynomial, 0b11}, 0, 7, true}, Case{{32, 5, kFermi}, 0, 32, true},
        Case{{32, 5, kFermi}, 0, 64, false}, Case{{32, 5, kFermi}, 0, 65, true}}) {
    SliceRig r([&](L2SliceParams& p) {
      p.index = c.index;
      p.ways = 1;
    });
    r.read(10, c.first);
    r.read(110, c.second);
    r.read(210, c.first);
    for (const uint32_t at : {100u, 200u}) r.fill(at, 0);
    if (c.together) r.fill(300, 0);
    r.run();
    EXPECT_EQ(r.replied(2), c.together ? 300u : 210u + kLatency)
        << static_cast<int>(c.index.function) << " " << c.second;
  }
}

// Bits that choose the partition are the same in all lines of a slice: they make no difference.
TEST(L2Slice, ASetIsOfTheNumberWithinTheSlice) {
  SliceRig r([](L2SliceParams& p) {
    p.index = {4, 2, cache::SetFunction::kLinear};
    p.ways = 1;
    AddressMap& map =
        p.map.baseline;  // GPGPU-Sim's: runs of two lines go to three partitions in turn
    map.stacks = 3, map.vaults = map.slices = 1, map.chunk_bits = 1;
    map.vault_bits = 0;
  });
  const uint32_t lines[] = {0, 1, 6, 7, 12};  // numbers 0 to 4 of the first partition's slice
  for (uint32_t i = 0; i < 5; ++i) {
    r.read(10 + 100 * i, lines[i]);
    r.fill(60 + 100 * i, 0);
  }
  r.read(600, 7);
  r.read(610, 0);  // 12 took its place
  r.fill(700, 0);
  r.run();
  EXPECT_EQ(r.replied(5), 600u + kLatency);
  EXPECT_EQ(r.replied(6), 700u);
  EXPECT_EQ(r.counters().evictions, 2u);
}

TEST(L2Slice, SetFullOfPendingWaysHoldsTheRequest) {
  SliceRig r([](L2SliceParams& p) { p.index = folded(0); });
  for (uint32_t i = 0; i < 3; ++i) r.read(10 + i, i);
  r.fill(100, 0);
  r.fill(110, 1);
  r.fill(200, 0);
  r.run();
  EXPECT_EQ(r.asked(2), 100u + kLatency);
  EXPECT_EQ(r.counters().evictions, 1u);
}

TEST(L2Slice, LeastRecentlyUsedIsEvictedWhenTheMissIsSent) {
  SliceRig r([](L2SliceParams& p) { p.index = folded(0); });
  r.read(10, 0);
  r.read(11, 1);
  r.fill(100, 0);
  r.fill(110, 1);
  r.read(200, 0);  // 0 is now the most recent
  r.read(210, 2);  // evicts 1, at once
  r.read(220, 0);  // still there
  r.read(230, 1);  // gone already: evicts 0, since 2 is pending
  // The entry freed last is used first.
  r.fill(300, 1);
  r.fill(310, 0);
  r.run();
  EXPECT_EQ(r.counters().read_hits, 2u);
  EXPECT_EQ(r.counters().read_misses, 4u);
  EXPECT_EQ(r.counters().evictions, 2u);
}

TEST(L2Slice, WritesAreForwardedAndDoNotAllocate) {
  SliceRig r;
  r.request(PacketKind::kWrite, 10, 6, 9, 3);
  r.read(20, 6);
  r.fill(100, 0);
  r.request(PacketKind::kWrite, 200, 6, 10, 3);
  r.run();
  EXPECT_EQ(r.counters().write_hits, 1u);
  EXPECT_EQ(r.counters().read_misses, 1u);
  const Packet& w = r.memory_in->items[0].packet;
  EXPECT_EQ(r.asked(0), 10u + kLatency);
  EXPECT_EQ(w.kind, PacketKind::kWrite);
  EXPECT_EQ(w.src, 3u);  // acknowledged past the slice
  EXPECT_EQ(w.tag, 9u);
  EXPECT_EQ(w.dst, 102u);
  EXPECT_EQ(w.bytes, 40u);
}

TEST(L2Slice, AtomicMissRepliesAndWritesThrough) {
  SliceRig r;
  r.request(PacketKind::kAtomic, 10, 6, 4, 2, 3);
  r.fill(100, 0);
  r.acknowledge(200);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 2u);
  const Packet& w = r.memory_in->items[1].packet;
  EXPECT_EQ(w.kind, PacketKind::kWrite);
  EXPECT_EQ(w.src, 50u);
  EXPECT_EQ(w.bytes, 8u + 64);
  EXPECT_EQ(r.asked(1), 100u);
  EXPECT_EQ(r.sm_in->items[0].packet.kind, PacketKind::kAtomicReply);
  EXPECT_EQ(r.sm_in->items[0].packet.bytes, 8u + 64);
  EXPECT_EQ(r.counters().atomic_write_acks, 1u);
  EXPECT_EQ(r.counters().atomic_writes, 1u);
}

TEST(L2Slice, AtomicHit) {
  SliceRig r;
  r.read(10, 6);
  r.fill(100, 0);
  r.request(PacketKind::kAtomic, 200, 6, 4, 2, 1);
  r.acknowledge(300);
  r.run();
  EXPECT_EQ(r.replied(1), 200u + kLatency);
  EXPECT_EQ(r.asked(1), 200u + kLatency);
  EXPECT_EQ(r.counters().atomic_hits, 1u);
}

TEST(L2Slice, LanesThatWantOneAddressAreServedOneAfterTheOther) {
  SliceRig r([](L2SliceParams& p) { p.atomic_cycles = 2; });
  r.read(10, 6);
  r.fill(100, 0);
  const auto atomic = [&](uint32_t cycle, uint32_t lanes) {
    r.request(PacketKind::kAtomic, cycle, 6);
    r.sm_out->items.back().packet.extra = lanes;
  };
  atomic(200, 7);
  atomic(201, 1);
  r.read(202, 6);  // waits behind them
  for (int i = 0; i < 2; ++i) r.acknowledge(400);
  r.run();
  EXPECT_EQ(r.replied(1), 200u + kLatency);
  EXPECT_EQ(r.replied(2), 214u + kLatency);
  EXPECT_EQ(r.replied(3), 215u + kLatency);  // the unit for atomics does not hold up reads
  EXPECT_EQ(r.counters().atomic_busy_cycles, 16u);
}

TEST(L2Slice, LanesInPacketsOfTheirOwnAreServedOnePerCycle) {
  for (const uint32_t cycles : {0u, 1u, 3u}) {
    SliceRig r([&](L2SliceParams& p) { p.atomic_cycles = cycles; });
    r.read(10, 6);
    r.fill(100, 0);
    for (uint32_t i = 0; i < 4; ++i) {
      r.request(PacketKind::kAtomic, 200 + i, 6);
      r.sm_out->items.back().packet.extra = 1;
    }
    for (int i = 0; i < 4; ++i) r.acknowledge(400 + i);
    r.run();
    for (uint32_t i = 0; i < 4; ++i)
      EXPECT_EQ(r.replied(1 + i), 200u + i * (cycles == 3 ? 3 : 1) + kLatency) << cycles;
  }
}

TEST(L2Slice, FillsOfAtomicsNeedNoRoomInTheRequestRing) {
  // Memory takes no request for a long time, yet data that returns is passed on.
  SliceRig r(
      [](L2SliceParams& p) {
        p.index = folded(3);
        p.mshr_merges = 8;
        p.latency_cycles = 1;
      },
      2);
  r.read(10, 6);
  r.fill(50, 0);
  for (uint32_t i = 0; i < 4; ++i) r.request(PacketKind::kAtomic, 100, 7, i);
  r.fill(200, 0);
  r.memory_in->from = 5000;
  for (uint32_t i = 0; i < 8; ++i) r.request(PacketKind::kWrite, 150, 6, i);
  for (uint32_t i = 0; i < 4; ++i) r.acknowledge(3000);
  r.run();
  std::size_t before = 0;
  for (const auto& item : r.sm_in->items) before += item.at < 5000 ? 1 : 0;
  EXPECT_EQ(before, 5u);
  EXPECT_EQ(r.sm_in->items.size(), 5u);
}

TEST(L2Slice, InvalidationDropsTheLine) {
  SliceRig r;
  r.read(10, 6);
  r.fill(100, 0);
  r.request(PacketKind::kInvalidate, 150, 6);
  r.request(PacketKind::kInvalidate, 151, 7);  // not there
  r.read(200, 6);
  r.fill(300, 0);
  r.run();
  EXPECT_EQ(r.counters().read_misses, 2u);
  EXPECT_EQ(r.counters().lines_invalidated, 1u);
  EXPECT_EQ(r.counters().invalidations, 2u);
}

TEST(L2Slice, InvalidationOfAPendingLineKeepsNothing) {
  SliceRig r;
  r.read(10, 6, 1);
  r.request(PacketKind::kInvalidate, 20, 6);
  r.read(30, 6, 2);  // asks again: what is under way is old
  r.fill(100, 0);
  r.fill(200, 1);
  r.read(300, 6, 3);  // hits what the second fill brought
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 2u);
  EXPECT_EQ(r.counters().read_hits, 1u);
  EXPECT_EQ(r.replied(0), 100u);
  EXPECT_EQ(r.replied(1), 200u);
}

TEST(L2Slice, InvalidationsOfTheirOwnNetworkPassBlockedRequests) {
  SliceRig r([](L2SliceParams& p) { p.mshr_entries = 1; });
  r.read(10, 6);
  r.read(20, 7);  // waits for the only MSHR
  r.invalidations->items.push_back(
      {30 * kPeriod - kHop, make_packet(PacketKind::kInvalidate, 1, 50, 8, 0, 6), 0});
  r.fill(100, 0);  // of 6: not kept
  r.fill(200, 0);
  r.read(300, 6);
  r.fill(400, 0);
  r.run();
  EXPECT_EQ(r.counters().lines_invalidated, 1u);
  EXPECT_EQ(r.counters().read_misses, 3u);
  EXPECT_EQ(r.asked(1), 100u + kLatency);
}

TEST(L2Slice, FillsAndHitsTakeTurnsAtTheReplyChannel) {
  SliceRig r([](L2SliceParams& p) { p.mshr_merges = 8; }, 32);
  r.read(10, 6);
  r.fill(50, 0);
  for (uint32_t i = 0; i < 6; ++i) r.read(60 + i, 7, 100 + i);
  for (uint32_t i = 0; i < 6; ++i) r.read(95 + i, 6, 200 + i);  // due from 100 on
  r.fill(100, 0);
  r.run();
  const auto& got = r.sm_in->items;
  ASSERT_EQ(got.size(), 13u);
  for (std::size_t i = 1; i < 12; ++i) {
    EXPECT_EQ(got[i].packet.tag / 100, i % 2 == 1 ? 1u : 2u) << i;
    EXPECT_EQ(r.replied(i), 99u + i);
  }
}

TEST(L2Slice, BlockedRepliesLoseNothing) {
  SliceRig r({}, 1);
  r.read(10, 6);
  r.fill(100, 0);
  r.sm_in->from = 10000;
  for (uint32_t i = 0; i < 40; ++i) r.read(200, 6, i);
  r.run();
  EXPECT_EQ(r.sm_in->items.size(), 41u);
}

TEST(L2Slice, SleepsWhileItWaits) {
  SliceRig r;
  r.read(10, 6);
  r.fill(9000, 0);
  r.run();
  EXPECT_LT(r.rig.steps, 40u);
}

}  // namespace
}  // namespace nearwarp::testing::l2_slice_test
