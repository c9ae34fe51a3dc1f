// Are look-ups, merges, stalls that leave no trace, replacement and invalidation of an L1 right?
#include "device/cache/l1_cache.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "device/core/arena.h"

namespace nearwarp::cache {
namespace {

struct L1 {
  L1Params p;
  ArenaBuilder arena;
  L1State s;
  uint32_t mshr = 99;

  explicit L1(uint32_t sets = 4, uint32_t ways = 2, uint32_t mshrs = 8, uint32_t merges = 2) {
    p.index = {sets, static_cast<uint32_t>(std::countr_zero(sets)), SetFunction::kLinear},
    p.ways = ways, p.mshrs = mshrs, p.merges = merges;
    s = make_l1(arena, p);
  }
  L1Result load(LineAddr line, uint8_t entry = 0, bool can_send = true, uint32_t cycle = 0) {
    const L1Load load{.line = line, .cycle = cycle, .credits = can_send ? 1u : 0u, .entry = entry};
    return l1_load(p, s, arena.base(), load, mshr);
  }
  void fill(uint32_t m) { l1_fill(s, arena.base(), m); }
  void fetch(LineAddr line) {
    ASSERT_EQ(load(line), L1Result::kMiss);
    fill(mshr);
  }
  /// The state as bytes, counters included.
  std::vector<std::byte> image() {
    std::vector<std::byte> bytes(arena.base(), arena.base() + arena.size_bytes());
    const auto* state = reinterpret_cast<const std::byte*>(&s);
    bytes.insert(bytes.end(), state, state + sizeof(s));
    return bytes;
  }
};

TEST(L1Cache, MissFillHit) {
  L1 c;
  EXPECT_EQ(c.load(12, 5, true, 77), L1Result::kMiss);
  EXPECT_EQ(c.arena.get(c.s.mshr_since)[c.mshr], 77u);
  EXPECT_EQ(c.arena.get(c.s.mshr_count)[c.mshr], 1);
  EXPECT_EQ(c.arena.get(c.s.mshr_loads)[c.mshr * 2], 5);
  c.fill(c.mshr);
  EXPECT_EQ(c.s.mshr_free, low_bits(8));
  EXPECT_EQ(c.load(12), L1Result::kHit);
  EXPECT_EQ(c.s.counters.read_hits, 1u);
  EXPECT_EQ(c.s.counters.read_misses, 1u);
}

TEST(L1Cache, LoadsOfALineUnderWayMerge) {
  L1 c;
  EXPECT_EQ(c.load(3, 1), L1Result::kMiss);
  const uint32_t m = c.mshr;
  EXPECT_EQ(c.load(3, 9, false), L1Result::kMerged);  // nothing needs to be sent
  EXPECT_EQ(c.arena.get(c.s.mshr_count)[m], 2);
  EXPECT_EQ(c.arena.get(c.s.mshr_loads)[m * 2 + 1], 9);
  EXPECT_EQ(c.load(3, 7), L1Result::kStall);  // two are all that an MSHR holds here
}

TEST(L1Cache, StallsChangeNothing) {
  L1 c(1, 2, 3);
  EXPECT_EQ(c.load(1, 0), L1Result::kMiss);
  EXPECT_EQ(c.load(1, 1), L1Result::kMerged);
  auto before = c.image();
  EXPECT_EQ(c.load(1, 2), L1Result::kStall);  // merges used up
  EXPECT_EQ(c.image(), before);
  EXPECT_EQ(c.load(2, 2, false), L1Result::kStall);  // the network is full
  EXPECT_EQ(c.image(), before);
  EXPECT_EQ(c.load(2, 2), L1Result::kMiss);
  before = c.image();
  EXPECT_EQ(c.load(3, 3), L1Result::kStall);  // both ways are being filled
  EXPECT_EQ(c.s.full_set, 0u);
  c.s.full_set = kNoLane;
  EXPECT_EQ(c.image(), before);
  L1 few(4, 2, 1);
  EXPECT_EQ(few.load(0, 0), L1Result::kMiss);
  before = few.image();
  EXPECT_EQ(few.load(1, 1), L1Result::kStall);  // no MSHR
  EXPECT_EQ(few.image(), before);
}

TEST(L1Cache, AFullSetWaitsForItsOwnFills) {
  L1 c(2, 2, 8);
  EXPECT_EQ(c.load(1), L1Result::kMiss);
  const uint32_t other = c.mshr;
  EXPECT_FALSE(l1_stays_full(c.p, c.s, c.arena.base(), other));  // nobody found a set full
  EXPECT_EQ(c.load(0), L1Result::kMiss);
  EXPECT_EQ(c.load(2), L1Result::kMiss);
  const uint32_t own = c.mshr;
  EXPECT_EQ(c.load(4), L1Result::kStall);
  EXPECT_TRUE(l1_stays_full(c.p, c.s, c.arena.base(), other));
  EXPECT_FALSE(l1_stays_full(c.p, c.s, c.arena.base(), own));
  l1_invalidate_line(c.p, c.s, c.arena.base(), 2);  // a way is free without a fill
  EXPECT_FALSE(l1_stays_full(c.p, c.s, c.arena.base(), other));
  EXPECT_EQ(c.load(4), L1Result::kMiss);
  EXPECT_EQ(c.load(6), L1Result::kStall);
  EXPECT_TRUE(l1_stays_full(c.p, c.s, c.arena.base(), other));
  l1_flush(c.p, c.s, c.arena.base());
  EXPECT_FALSE(l1_stays_full(c.p, c.s, c.arena.base(), other));
}

TEST(L1Cache, LeastRecentlyUsedGoes) {
  L1 c(1, 4);
  for (LineAddr line = 0; line < 4; ++line) c.fetch(line);
  EXPECT_EQ(c.load(0), L1Result::kHit);
  EXPECT_EQ(c.load(2), L1Result::kHit);
  c.fetch(9);  // in the place of 1
  EXPECT_EQ(c.load(0), L1Result::kHit);
  EXPECT_EQ(c.load(2), L1Result::kHit);
  EXPECT_EQ(c.load(3), L1Result::kHit);
  EXPECT_EQ(c.load(9), L1Result::kHit);
  EXPECT_EQ(c.load(1), L1Result::kMiss);
}

TEST(L1Cache, EmptyWaysComeFirst) {
  L1 c(1, 4);
  for (LineAddr line = 0; line < 4; ++line) c.fetch(line);
  l1_invalidate_line(c.p, c.s, c.arena.base(), 3);
  c.fetch(7);
  for (const LineAddr line : {0u, 1u, 2u, 7u}) EXPECT_EQ(c.load(line), L1Result::kHit);
}

TEST(L1Cache, SetsDoNotMix) {
  L1 c(4, 1);
  for (LineAddr line = 0; line < 4; ++line) c.fetch(line);
  for (LineAddr line = 0; line < 4; ++line) EXPECT_EQ(c.load(line), L1Result::kHit);
  c.fetch(5);  // drives out 1 only
  EXPECT_EQ(c.load(0), L1Result::kHit);
  EXPECT_EQ(c.load(1), L1Result::kMiss);
}

TEST(L1Cache, StoresAllocateNothing) {
  L1 c;
  l1_store(c.p, c.s, c.arena.base(), 5);
  EXPECT_EQ(c.load(5), L1Result::kMiss);
  c.fill(c.mshr);
  l1_store(c.p, c.s, c.arena.base(), 5);
  EXPECT_EQ(c.s.counters.write_misses, 1u);
  EXPECT_EQ(c.s.counters.write_hits, 1u);
  EXPECT_EQ(c.load(5), L1Result::kHit);
}

// --- what loads leave for later ones ---

TEST(L1Cache, MissesAloneMergeAndLeaveNothing) {
  L1 c;
  c.p.keep = L1Keep::kMisses;
  EXPECT_EQ(c.load(5, 1), L1Result::kMiss);
  const uint32_t m = c.mshr;
  EXPECT_EQ(c.load(5, 2), L1Result::kMerged);
  l1_fill(c.s, c.arena.base(), m, true);
  EXPECT_EQ(c.s.mshr_free, low_bits(8));
  EXPECT_EQ(c.load(5, 3), L1Result::kMiss);
  EXPECT_EQ(c.s.counters.read_hits, 0u);
}

TEST(L1Cache, AMissWhoseWayHasGoneToAnotherDropsNothing) {
  L1 c(1, 1);
  c.p.keep = L1Keep::kMisses;
  EXPECT_EQ(c.load(5), L1Result::kMiss);
  const uint32_t first = c.mshr;
  l1_invalidate_line(c.p, c.s, c.arena.base(), 5);
  EXPECT_EQ(c.load(6), L1Result::kMiss);  // in the only way
  l1_fill(c.s, c.arena.base(), first, true);
  EXPECT_EQ(c.load(6), L1Result::kMerged);
}

TEST(L1Cache, WithoutMergingEveryLoadFetches) {
  L1 c(1, 1, 4);
  c.p.keep = L1Keep::kNothing;
  // As many as there are MSHRs, of one line or of others: no way is taken.
  for (const LineAddr line : {5u, 5u, 6u, 5u}) EXPECT_EQ(c.load(line, 7), L1Result::kMiss);
  const auto before = c.image();
  EXPECT_EQ(c.load(5), L1Result::kStall);
  EXPECT_EQ(c.image(), before);
  EXPECT_TRUE(l1_waits_for_reply(c.p, c.s, c.arena.base(), 5));
  EXPECT_EQ(c.arena.get(c.s.mshr_loads)[2 * 2], 7);
  l1_fill(c.s, c.arena.base(), 2, true);
  EXPECT_EQ(c.load(5, 7, false), L1Result::kStall);  // the network is full
  EXPECT_EQ(c.load(5), L1Result::kMiss);
  EXPECT_EQ(c.mshr, 2u);
  l1_store(c.p, c.s, c.arena.base(), 5);
  EXPECT_EQ(c.s.counters.read_misses, 5u);
  EXPECT_EQ(c.s.counters.read_hits + c.s.counters.read_merges + c.s.counters.write_hits, 0u);
  l1_flush(c.p, c.s, c.arena.base());
  for (uint32_t m = 0; m < 4; ++m) l1_fill(c.s, c.arena.base(), m, true);
  EXPECT_EQ(c.s.mshr_free, low_bits(4));
}

TEST(L1Cache, FlushWithFillsUnderWay) {
  L1 c(1, 2);
  c.fetch(1);
  EXPECT_EQ(c.load(2, 4), L1Result::kMiss);
  const uint32_t old = c.mshr;
  l1_flush(c.p, c.s, c.arena.base());
  EXPECT_EQ(c.load(2, 6), L1Result::kMiss);  // a load after the flush does not merge with it
  const uint32_t fresh = c.mshr;
  EXPECT_NE(fresh, old);
  EXPECT_EQ(c.arena.get(c.s.mshr_loads)[old * 2], 4);  // the old one still serves its load
  c.fill(old);
  EXPECT_EQ(c.load(2, 7), L1Result::kMerged);  // what the old fill brought is not valid
  c.fill(fresh);
  EXPECT_EQ(c.load(2), L1Result::kHit);
  EXPECT_EQ(c.load(1), L1Result::kMiss);
  c.fill(c.mshr);
  EXPECT_EQ(c.s.mshr_free, low_bits(8));
  EXPECT_EQ(c.s.counters.flushes, 1u);
}

TEST(L1Cache, FlushedAgainAndAgain) {
  L1 c;
  for (uint32_t i = 0; i < 3; ++i) {
    l1_flush(c.p, c.s, c.arena.base());
    l1_flush(c.p, c.s, c.arena.base());  // with nothing to drop
    EXPECT_EQ(c.load(5), L1Result::kMiss);
    l1_flush(c.p, c.s, c.arena.base());  // the fill is under way
    c.fill(c.mshr);
    EXPECT_EQ(c.load(5), L1Result::kMiss);
    c.fill(c.mshr);
    EXPECT_EQ(c.load(5), L1Result::kHit);
  }
  EXPECT_EQ(c.s.counters.flushes, 9u);
}

TEST(L1Cache, InvalidatedWhileItIsFilled) {
  L1 c;
  EXPECT_EQ(c.load(6), L1Result::kMiss);
  const uint32_t m = c.mshr;
  l1_invalidate_line(c.p, c.s, c.arena.base(), 6);
  c.fill(m);
  EXPECT_EQ(c.s.mshr_free, low_bits(8));
  EXPECT_EQ(c.load(6), L1Result::kMiss);
  l1_invalidate_line(c.p, c.s, c.arena.base(), 1234);  // not there: nothing happens
  EXPECT_EQ(c.s.counters.invalidated_lines, 1u);
}

}  // namespace
}  // namespace nearwarp::cache
