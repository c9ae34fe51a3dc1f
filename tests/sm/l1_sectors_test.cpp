// What does an L1 with sectors, or with write-back, fetch and replace, when, and which loads wait
// for it?
#include "device/cache/l1_sectors.h"

#include <gtest/gtest.h>

#include "device/sm/make_sm.h"

namespace nearwarp::cache::l1_sectors_test {
namespace {

struct L1 {
  sm::SmParams sm;
  L1Params& p = sm.l1;
  ArenaBuilder arena;
  L1State s;
  L1Request request;

  explicit L1(L1Writes writes, bool sectors, uint32_t sets = 4, uint32_t ways = 2,
              uint32_t mshrs = 8, uint32_t merges = 4) {
    p.index = {sets, static_cast<uint32_t>(count_trailing_zeros(sets)), SetFunction::kLinear};
    p.ways = ways, p.mshrs = mshrs, p.merges = merges;
    p.plain = false;
    p.by_sectors = sectors ? 1 : 0;
    p.writes = writes;
    p.all_sectors = 15;
    s = sm::make_sm<1>(arena, sm).l1;
  }
  L1Result load(LineAddr line, uint32_t sectors = 15, uint8_t entry = 0, uint32_t credits = 2) {
    request = L1Request{};
    const L1Load load{.line = line, .credits = credits, .sectors = sectors, .entry = entry};
    return l1_load_sectors(p, s, arena.base(), load, request);
  }
  /// The loads that a fill ends.
  std::vector<uint8_t> fill(uint32_t m, uint32_t sectors) {
    const uint32_t n = l1_fill_sectors(p, s, arena.base(), m, sectors);
    const uint8_t* loads = arena.get(s.mshr_loads) + m * p.merges;
    std::vector<uint8_t> ended(loads, loads + n);
    l1_end_fill(p, s, arena.base(), m, n);
    return ended;
  }
  void fetch(LineAddr line, uint32_t sectors = 15) {
    ASSERT_EQ(load(line, sectors), L1Result::kMiss);
    fill(request.mshr, request.fetch);
  }
  void store(LineAddr line, uint64_t words, bool local = false) {
    uint32_t sectors = 0;
    for (uint32_t k = 0; k < 4; ++k) sectors |= (words >> 8 * k & 0xff) != 0 ? 1u << k : 0;
    if (!l1_keeps_store(p, s, arena.base(), line, local))
      l1_store_sectors(p, s, arena.base(), line, sectors, words);
  }
  bool empty() const { return s.mshr_free == low_bits(p.mshrs < 64 ? p.mshrs : 64); }
};

using Loads = std::vector<uint8_t>;

TEST(L1Sectors, LoadsFetchWhatIsMissing) {
  L1 c(L1Writes::kThrough, true);
  EXPECT_EQ(c.load(5, 0b0011), L1Result::kMiss);
  EXPECT_EQ(c.request.fetch, 0b0011u);
  c.fill(c.request.mshr, 0b0011);
  EXPECT_EQ(c.load(5, 0b0001), L1Result::kHit);
  EXPECT_EQ(c.load(5, 0b0110), L1Result::kMiss);
  EXPECT_EQ(c.request.fetch, 0b0100u);
  c.fill(c.request.mshr, 0b0100);
  EXPECT_EQ(c.load(5, 0b0111), L1Result::kHit);
  EXPECT_EQ(c.s.counters.sector_misses, 3u);
  EXPECT_TRUE(c.empty());
}

TEST(L1Sectors, EachLoadEndsWithItsLastSector) {
  L1 c(L1Writes::kThrough, true);
  EXPECT_EQ(c.load(5, 0b0001, 1), L1Result::kMiss);
  const uint32_t m = c.request.mshr;
  EXPECT_EQ(c.load(5, 0b0011, 2), L1Result::kMiss);
  EXPECT_EQ(c.request.mshr, m);
  EXPECT_EQ(c.request.fetch, 0b0010u);
  EXPECT_EQ(c.load(5, 0b0010, 3, 0), L1Result::kMerged);  // needs no credit
  EXPECT_EQ(c.load(5, 0b0001, 4), L1Result::kMerged);
  EXPECT_EQ(c.load(5, 0b0100, 5), L1Result::kStall);  // four are all that an MSHR holds here
  EXPECT_EQ(c.fill(m, 0b0010), Loads{3});
  EXPECT_FALSE(c.empty());
  EXPECT_EQ(c.fill(m, 0b0001), (Loads{1, 2, 4}));
  EXPECT_TRUE(c.empty());
}

TEST(L1Sectors, ByLinesAReplyBringsAll) {
  L1 c(L1Writes::kLocalBack, false);
  EXPECT_EQ(c.load(5, 0b0001, 1), L1Result::kMiss);
  EXPECT_EQ(c.load(5, 0b1000, 2), L1Result::kMerged);
  EXPECT_EQ(c.fill(0, 0), (Loads{1, 2}));
  EXPECT_EQ(c.load(5, 0b0100), L1Result::kHit);
}

TEST(L1Sectors, WhatIsStoredIsThereIfItIsWhole) {
  L1 c(L1Writes::kAllocate, true);
  c.store(5, 0xff | 0x0f00);  // sector 0, and half of sector 1
  EXPECT_EQ(c.s.counters.sector_write_misses, 2u);
  EXPECT_EQ(c.load(5, 0b0001), L1Result::kHit);
  c.store(5, 0xf000);
  EXPECT_EQ(c.s.counters.write_hits, 1u);
  EXPECT_EQ(c.load(5, 0b0010), L1Result::kHit);
  c.store(5, 0x10000);
  EXPECT_EQ(c.load(5, 0b0100), L1Result::kMiss);
  EXPECT_EQ(c.request.fetch, 0b0100u);
}

TEST(L1Sectors, WhatWentThroughIsNotWrittenBack) {
  L1 c(L1Writes::kAllocate, true, 1, 1);
  c.store(1, 0xff);
  EXPECT_EQ(c.load(2, 1, 0, 1), L1Result::kMiss);  // one packet
  EXPECT_EQ(c.request.write_back, kNoLine);
  EXPECT_EQ(c.s.counters.write_backs, 0u);
}

TEST(L1Sectors, StoresDoNotReplaceWhatWaits) {
  L1 c(L1Writes::kAllocate, true, 1, 2);
  EXPECT_EQ(c.load(1, 1), L1Result::kMiss);
  EXPECT_EQ(c.load(2, 1), L1Result::kMiss);
  c.store(3, 0xff);
  EXPECT_EQ(l1_find(c.p, c.s, c.arena.base(), first_way(c.p, 3), 3), kNoLane);
  EXPECT_EQ(c.load(1, 1), L1Result::kMerged);
}

TEST(L1Sectors, StoresToLocalMemoryStayIfTheirLineIsThere) {
  L1 c(L1Writes::kLocalBack, false, 1, 2);
  c.store(1, 0xff, true);  // not there: passes, and allocates nothing
  EXPECT_EQ(c.load(1), L1Result::kMiss);
  c.store(1, 0xff, true);  // on its way: passes
  EXPECT_EQ(c.s.counters.write_misses, 2u);
  c.fill(c.request.mshr, 0);
  c.store(1, 0xff, true);
  c.store(1, 0xff, true);
  EXPECT_EQ(c.s.counters.write_hits, 2u);
  EXPECT_EQ(c.s.counters.lines_dirtied, 1u);
  c.fetch(2);
  EXPECT_EQ(c.load(3, 15, 0, 1), L1Result::kStall);  // two packets to send
  EXPECT_EQ(c.load(3), L1Result::kMiss);
  EXPECT_EQ(c.request.write_back, 1u);
  c.fill(c.request.mshr, 0);
  EXPECT_EQ(c.load(4), L1Result::kMiss);  // in the place of 2, which is clean
  EXPECT_EQ(c.request.write_back, kNoLine);
  EXPECT_EQ(c.s.counters.write_backs, 1u);
}

TEST(L1Sectors, ThoseToGlobalMemoryDropTheirs) {
  L1 c(L1Writes::kLocalBack, false);
  c.fetch(5);
  c.store(5, 0xff);
  EXPECT_EQ(c.s.counters.write_hits, 1u);
  EXPECT_EQ(c.load(5), L1Result::kMiss);
}

TEST(L1Sectors, AKernelBeginsWithNothing) {
  L1 c(L1Writes::kLocalBack, false);
  c.fetch(5);
  c.store(5, 0xff, true);
  EXPECT_EQ(c.load(6, 15, 7), L1Result::kMiss);
  const uint32_t m = c.request.mshr;
  l1_flush(c.p, c.s, c.arena.base());
  EXPECT_EQ(c.s.counters.lines_dropped_dirty, 1u);
  EXPECT_EQ(c.load(6, 15, 8), L1Result::kMiss);  // does not join the one before
  EXPECT_NE(c.request.mshr, m);
  EXPECT_EQ(c.fill(m, 0), Loads{7});
  EXPECT_EQ(c.fill(c.request.mshr, 0), Loads{8});
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.load(6), L1Result::kHit);
}

TEST(L1Sectors, AnInvalidatedLineIsNotKept) {
  L1 c(L1Writes::kAllocate, true);
  EXPECT_EQ(c.load(5, 1, 7), L1Result::kMiss);
  l1_invalidate_line(c.p, c.s, c.arena.base(), 5);
  EXPECT_EQ(c.fill(c.request.mshr, 1), Loads{7});
  EXPECT_EQ(c.load(5, 1), L1Result::kMiss);
}

/// Ways are taken on fill.
L1 on_fill(L1Writes writes, bool sectors, uint32_t sets = 4, uint32_t ways = 2, uint32_t mshrs = 8,
           uint32_t merges = 4) {
  L1 c(writes, sectors, sets, ways, mshrs, merges);
  c.p.on_fill = 1;
  return c;
}

TEST(L1OnFill, AMissWantsAnMshrAlone) {
  L1 c = on_fill(L1Writes::kThrough, true, 1, 2, 4);
  c.fetch(1, 1);
  c.fetch(2, 1);
  for (LineAddr line = 3; line < 7; ++line) {
    EXPECT_EQ(c.load(line, 1), L1Result::kMiss);  // more than there are ways
    EXPECT_EQ(c.request.mshr, line - 3);
  }
  EXPECT_EQ(c.load(7, 1), L1Result::kStall);  // no MSHR
  EXPECT_EQ(c.load(2, 1), L1Result::kHit);    // lines are there until others have come
  EXPECT_EQ(c.load(1, 1), L1Result::kHit);
  c.fill(2, 1);  // line 5 comes first, and takes the place of 2
  EXPECT_EQ(c.load(1, 1), L1Result::kHit);
  EXPECT_EQ(c.load(5, 1), L1Result::kHit);
  EXPECT_EQ(c.load(2, 1), L1Result::kMiss);
  EXPECT_EQ(c.request.mshr, 2u);
  for (const uint32_t m : {0u, 1u, 3u, 2u}) c.fill(m, 1);
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.load(6, 1), L1Result::kHit);  // the last two that came
  EXPECT_EQ(c.load(2, 1), L1Result::kHit);
  EXPECT_EQ(c.load(4, 1), L1Result::kMiss);
}

TEST(L1OnFill, LoadsJoinTheMshrOfTheirLine) {
  L1 c = on_fill(L1Writes::kThrough, true, 4, 2, 8, 3);
  EXPECT_EQ(c.load(5, 0b0001, 1), L1Result::kMiss);
  EXPECT_EQ(c.load(9, 0b0001, 2), L1Result::kMiss);
  EXPECT_EQ(c.load(9, 0b0001, 3, 0), L1Result::kMerged);  // needs no credit
  EXPECT_EQ(c.load(9, 0b0010, 4, 0), L1Result::kStall);   // this one does
  EXPECT_EQ(c.load(9, 0b0011, 4), L1Result::kMiss);
  EXPECT_EQ(c.request.mshr, 1u);
  EXPECT_EQ(c.request.fetch, 0b0010u);
  EXPECT_EQ(c.load(9, 0b0001, 5), L1Result::kStall);  // three are all that an MSHR holds here
  EXPECT_EQ(c.fill(1, 0b0001), (Loads{2, 3}));
  EXPECT_EQ(c.load(9, 0b0001, 5), L1Result::kHit);
  EXPECT_EQ(c.fill(1, 0b0010), Loads{4});
  EXPECT_EQ(c.fill(0, 0b0001), Loads{1});
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.s.counters.read_misses, 3u);
  EXPECT_EQ(c.s.counters.read_merges, 1u);
}

TEST(L1OnFill, ASectorOfALineThatHasGoneTakesAWayAgain) {
  L1 c = on_fill(L1Writes::kThrough, true, 1, 1);
  EXPECT_EQ(c.load(1, 0b0011, 1), L1Result::kMiss);
  c.fill(0, 0b0001);
  c.fetch(2, 1);  // in the place of 1, which still waits for a sector
  EXPECT_EQ(c.load(1, 0b0001, 2), L1Result::kMiss);
  EXPECT_EQ(c.request.mshr, 0u);
  EXPECT_EQ(c.request.fetch, 0b0001u);
  EXPECT_EQ(c.fill(0, 0b0010), Loads{1});
  EXPECT_EQ(c.load(1, 0b0010), L1Result::kHit);
  EXPECT_EQ(c.load(2, 0b0001), L1Result::kMiss);
  EXPECT_EQ(c.fill(0, 0b0001), Loads{2});
  c.fill(1, 0b0001);
  EXPECT_TRUE(c.empty());
}

TEST(L1OnFill, ByLinesAReplyBringsAll) {
  L1 c = on_fill(L1Writes::kThrough, false);
  EXPECT_EQ(c.load(5, 0b0001, 1), L1Result::kMiss);
  EXPECT_EQ(c.load(5, 0b1000, 2), L1Result::kMerged);
  EXPECT_EQ(c.fill(0, 0), (Loads{1, 2}));
  EXPECT_EQ(c.load(5, 0b0100), L1Result::kHit);
}

TEST(L1OnFill, AStoreMayTakeTheWayBefore) {
  L1 c = on_fill(L1Writes::kAllocate, true, 1, 1);
  EXPECT_EQ(c.load(1, 0b0011, 1), L1Result::kMiss);
  c.store(1, 0xff);  // under way, so that it misses nothing
  EXPECT_EQ(c.s.counters.sector_write_misses, 0u);
  c.store(1, 0xff0000);
  EXPECT_EQ(c.s.counters.sector_write_misses, 1u);
  EXPECT_EQ(c.load(1, 0b0101, 2), L1Result::kHit);
  EXPECT_EQ(c.load(1, 0b0010, 3), L1Result::kMerged);
  EXPECT_EQ(c.fill(0, 0b0011), (Loads{1, 3}));
  EXPECT_EQ(c.load(1, 0b0111), L1Result::kHit);
  c.store(2, 0xff);  // replaces it; what it had went through
  EXPECT_EQ(c.load(1, 0b0001), L1Result::kMiss);
  EXPECT_EQ(c.request.write_back, kNoLine);
}

TEST(L1OnFill, AKernelBeginsWithNothing) {
  L1 c = on_fill(L1Writes::kThrough, true);
  EXPECT_EQ(c.load(6, 0b0011, 7), L1Result::kMiss);
  EXPECT_EQ(c.fill(0, 0b0001), Loads{});
  l1_flush(c.p, c.s, c.arena.base());                // between the two sectors
  EXPECT_EQ(c.load(6, 0b0001, 8), L1Result::kMiss);  // does not join the one before
  EXPECT_EQ(c.request.mshr, 1u);
  EXPECT_EQ(c.fill(0, 0b0010), Loads{7});  // and this is not kept
  EXPECT_EQ(c.fill(1, 0b0001), Loads{8});
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.load(6, 0b0001), L1Result::kHit);
  EXPECT_EQ(c.load(6, 0b0010), L1Result::kMiss);
}

TEST(L1OnFill, AnInvalidatedLineIsNotKept) {
  L1 c = on_fill(L1Writes::kAllocate, true);
  EXPECT_EQ(c.load(5, 0b0011, 7), L1Result::kMiss);
  EXPECT_EQ(c.fill(0, 0b0001), Loads{});
  l1_invalidate_line(c.p, c.s, c.arena.base(), 5);
  EXPECT_EQ(c.s.counters.invalidated_lines, 1u);
  EXPECT_EQ(c.fill(0, 0b0010), Loads{7});
  EXPECT_TRUE(c.empty());
  EXPECT_EQ(c.load(5, 0b0010), L1Result::kMiss);
}

TEST(L1OnFill, MoreThan64Mshrs) {
  L1 c = on_fill(L1Writes::kThrough, true, 1, 1, 130);
  for (LineAddr line = 0; line < 130; ++line)
    ASSERT_EQ(c.load(line, 1, 0), L1Result::kMiss) << line;
  EXPECT_EQ(c.load(130, 1), L1Result::kStall);
  for (const LineAddr line : {0u, 63u, 64u, 127u, 128u, 129u})
    EXPECT_EQ(c.load(line, 1, 1), L1Result::kMerged) << line;
  EXPECT_EQ(c.fill(128, 1), (Loads{0, 1}));
  EXPECT_EQ(c.load(128, 1), L1Result::kHit);
  EXPECT_EQ(c.load(131, 1), L1Result::kMiss);
  EXPECT_EQ(c.request.mshr, 128u);
}

TEST(L1Sectors, MoreThan64Mshrs) {
  L1 c(L1Writes::kThrough, true, 64, 4, 200);
  for (LineAddr line = 0; line < 200; ++line) {
    ASSERT_EQ(c.load(line, 1, 0), L1Result::kMiss) << line;
    EXPECT_EQ(c.request.mshr, line);
  }
  EXPECT_EQ(c.load(200, 1), L1Result::kStall);
  EXPECT_EQ(c.fill(150, 1), Loads{0});
  EXPECT_EQ(c.load(200, 1), L1Result::kMiss);
  EXPECT_EQ(c.request.mshr, 150u);
}

}  // namespace
}  // namespace nearwarp::cache::l1_sectors_test
