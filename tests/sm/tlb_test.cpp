// Do the TLB and its walkers, by themselves, replace and merge entries, read page tables, stall
// without a trace, and flush as they should?
#include "device/sm/tlb.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/core/arena.h"
#include "device/core/page_tables.h"

namespace nearwarp::sm {
namespace {

/// Pages of 4 KB and lines of 128 bytes, unless said otherwise: page p has lines 32 p to 32 p + 31.
struct Tlb {
  TlbParams p;
  ArenaBuilder arena;
  TlbState s;
  LineList lines;
  PageTables tables;  ///< none, unless a test makes them
  uint32_t space = 0;
  uint32_t walker = 99;

  explicit Tlb(uint32_t entries = 4, uint32_t walkers = 4, uint32_t walk_accesses = 2) {
    p.entries = entries, p.page_shift = 5, p.walkers = walkers, p.walk_accesses = walk_accesses;
    s = make_tlb(arena, p);
  }
  void operation(const std::vector<uint32_t>& pages) {
    lines = LineList{};
    for (const uint32_t page : pages) lines.line[lines.count++] = page * 32;
  }
  TlbResult translate(uint32_t now = 0, bool can_send = true) {
    return tlb_translate(p, s, arena.base(), lines, {space, now, can_send}, walker);
  }
  LineAddr read(uint32_t w) { return tlb_next_read(p, s, arena.base(), w); }
  void reply(uint32_t w, uint32_t now = 0) {
    tlb_reply(p, s, tables.translation, arena.base(), w, now);
  }
  /// All reads of a walk and their replies.
  void finish(uint32_t w, uint32_t now = 0) {
    for (uint32_t i = 0; i < p.walk_accesses; ++i) {
      read(w);
      reply(w, now);
    }
  }
  void done() {
    tlb_line_done(s);
    lines.next += 1;
  }
  /// Takes an operation of one line to its end; returns the result of its first look-up.
  TlbResult access(uint32_t page) {
    operation({page});
    const TlbResult r = translate();
    if (r == TlbResult::kWalk) finish(walker);
    EXPECT_EQ(translate(), TlbResult::kReady);
    done();
    return r;
  }
  bool holds(uint32_t page) { return tlb_find(p, s, arena.base(), page) != kNoLane; }
  /// The state as bytes, counters included.
  std::vector<std::byte> image() {
    std::vector<std::byte> bytes(arena.base(), arena.base() + arena.size_bytes());
    const auto* state = reinterpret_cast<const std::byte*>(&s);
    bytes.insert(bytes.end(), state, state + sizeof(s));
    return bytes;
  }
};

TEST(Tlb, MissWalkHit) {
  Tlb t;
  t.operation({7});
  EXPECT_EQ(t.translate(100), TlbResult::kWalk);
  t.read(t.walker);
  EXPECT_EQ(t.translate(101), TlbResult::kOnItsWay);  // nothing more to begin
  t.reply(t.walker, 150);
  EXPECT_EQ(t.s.unsent, 1u << t.walker);
  t.read(t.walker);
  EXPECT_EQ(t.s.unsent, 0u);
  EXPECT_EQ(t.translate(151), TlbResult::kOnItsWay);
  t.reply(t.walker, 200);
  EXPECT_EQ(t.translate(200), TlbResult::kReady);
  t.done();
  EXPECT_EQ(t.s.free_walkers, 15u);
  const TlbCounters& c = t.s.counters;
  EXPECT_EQ(c.misses, 1u);
  EXPECT_EQ(c.hits, 0u);
  EXPECT_EQ(c.walks, 1u);
  EXPECT_EQ(c.walk_reads, 2u);
  EXPECT_EQ(c.walk_cycles, 100u);
  EXPECT_EQ(c.wait_cycles, 100u);
  EXPECT_EQ(t.access(7), TlbResult::kReady);
  EXPECT_EQ(c.hits, 1u);
  EXPECT_EQ(c.walks, 1u);
}

TEST(Tlb, ReadsOneEntryPerLevelFromTheTopDown) {
  for (uint32_t n = 1; n <= kMaxWalkAccesses; ++n) {
    Tlb t(4, 4, n);
    const uint32_t page = 0x7abcdef;
    t.operation({page});
    ASSERT_EQ(t.translate(), TlbResult::kWalk);
    for (uint32_t level = n; level-- != 0;) {
      const uint32_t entry = page >> (9 * level);
      EXPECT_EQ(t.read(t.walker), 0xf0000000u + (level << 24) + entry / 16) << n;  // 8 of 128 bytes
      t.reply(t.walker);
      EXPECT_EQ(t.translate(), level == 0 ? TlbResult::kReady : TlbResult::kOnItsWay);
    }
    EXPECT_EQ(t.s.counters.walk_reads, n);
  }
}

TEST(Tlb, TablesOfTheSmallestPagesDoNotOverlap) {
  for (const uint32_t line_bytes : {32u, 64u, 128u, 256u}) {
    Tlb t(4, 4, kMaxWalkAccesses);
    uint32_t page_shift = 0, entry_shift = 0;
    while (line_bytes << page_shift != 4096) ++page_shift;
    while (8u << entry_shift != line_bytes) ++entry_shift;
    t.p.page_shift = page_shift, t.p.entry_shift = entry_shift;
    const LineAddr last = kPageTableBase - 1;  // the highest line that data may have
    t.lines.line[0] = last, t.lines.count = 1;
    ASSERT_EQ(t.translate(), TlbResult::kWalk);
    for (uint32_t level = kMaxWalkAccesses; level-- != 0;) {
      const LineAddr line = t.read(t.walker);
      EXPECT_GE(line, kPageTableBase + level * kPageTableLines);
      EXPECT_LT(line, kPageTableBase + (level + 1) * kPageTableLines);
      t.reply(t.walker);
    }
  }
}

TEST(Tlb, ReplacesTheLeastRecentlyUsed) {
  Tlb t(3);
  for (const uint32_t page : {1u, 2u, 3u}) EXPECT_EQ(t.access(page), TlbResult::kWalk);
  for (const uint32_t page : {1u, 2u, 3u}) EXPECT_EQ(t.access(page), TlbResult::kReady);
  EXPECT_EQ(t.access(1), TlbResult::kReady);
  EXPECT_EQ(t.access(4), TlbResult::kWalk);  // in the place of 2
  EXPECT_TRUE(t.holds(1));
  EXPECT_FALSE(t.holds(2));
  EXPECT_EQ(t.access(3), TlbResult::kReady);
  EXPECT_EQ(t.access(2), TlbResult::kWalk);  // in the place of 1
  EXPECT_FALSE(t.holds(1));
  EXPECT_TRUE(t.holds(3));
  EXPECT_TRUE(t.holds(4));
  EXPECT_EQ(t.s.counters.hits, 5u);
  EXPECT_EQ(t.s.counters.misses, 5u);
}

TEST(Tlb, CapacityIsAllOfIt) {
  for (const uint32_t entries : {1u, 2u, 32u, 1024u}) {
    Tlb t(entries);
    for (uint32_t round = 0; round < 2; ++round)
      for (uint32_t page = 0; page < entries; ++page) t.access(page);
    EXPECT_EQ(t.s.counters.walks, entries);
    EXPECT_EQ(t.s.counters.hits, entries);
    // One page more, round after round: the next one has always just been replaced.
    for (uint32_t page = 0; page <= entries; ++page) t.access(page);
    const uint64_t walks = t.s.counters.walks;
    for (uint32_t page = 0; page <= entries; ++page) t.access(page);
    EXPECT_EQ(t.s.counters.walks - walks, entries + 1);
  }
}

TEST(Tlb, LinesOfOnePageShareAWalk) {
  Tlb t;
  t.operation({5, 5, 5});
  EXPECT_EQ(t.translate(), TlbResult::kWalk);
  t.read(t.walker);
  EXPECT_EQ(t.translate(), TlbResult::kLooked);  // one look-up per cycle
  EXPECT_EQ(t.translate(), TlbResult::kLooked);
  EXPECT_EQ(t.translate(), TlbResult::kOnItsWay);
  t.reply(t.walker);
  t.read(t.walker);
  t.reply(t.walker);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(t.translate(), TlbResult::kReady);
    t.done();
  }
  EXPECT_EQ(t.s.counters.walks, 1u);
  EXPECT_EQ(t.s.counters.misses, 1u);
  EXPECT_EQ(t.s.counters.hits, 2u);
}

TEST(Tlb, FurtherLinesWalkAhead) {
  Tlb t(8, 3);
  t.access(2);
  t.operation({1, 2, 3, 1, 4, 5});
  ASSERT_EQ(t.translate(), TlbResult::kWalk);  // 1
  const uint32_t first = t.walker;
  t.read(first);
  EXPECT_EQ(t.translate(), TlbResult::kLooked);  // 2 is there
  EXPECT_EQ(t.translate(), TlbResult::kWalk);    // 3
  const uint32_t third = t.walker;
  t.read(third);
  EXPECT_EQ(t.translate(), TlbResult::kLooked);  // 1 is on its way
  EXPECT_EQ(t.translate(), TlbResult::kWalk);    // 4
  t.read(t.walker);
  const auto before = t.image();
  EXPECT_EQ(t.translate(), TlbResult::kOnItsWay);  // 5 finds no walker
  EXPECT_EQ(t.image(), before);
  t.reply(third);
  t.read(third);
  t.reply(third);
  EXPECT_EQ(t.s.wait_page, 1u);  // the head waits for 1, but the walker of 3 can walk for 5
  EXPECT_EQ(t.translate(), TlbResult::kWalk);
  EXPECT_EQ(t.walker, third);
  t.read(third);
  EXPECT_EQ(t.translate(), TlbResult::kOnItsWay);  // all lines looked up
  EXPECT_EQ(t.s.counters.walks, 5u);
}

TEST(Tlb, FailedAttemptsChangeNothing) {
  Tlb t(4, 1);
  t.operation({1, 2});
  EXPECT_EQ(t.translate(10, false), TlbResult::kNoCredit);  // the wait begins with the first look
  auto before = t.image();
  EXPECT_EQ(t.translate(11, false), TlbResult::kNoCredit);
  EXPECT_EQ(t.image(), before);
  EXPECT_EQ(t.translate(12), TlbResult::kWalk);
  t.read(t.walker);
  before = t.image();
  EXPECT_EQ(t.translate(13), TlbResult::kOnItsWay);
  EXPECT_EQ(t.translate(14, false), TlbResult::kOnItsWay);
  EXPECT_EQ(t.image(), before);
  t.reply(t.walker, 30);
  t.read(t.walker);
  t.reply(t.walker, 50);
  before = t.image();
  EXPECT_EQ(t.translate(51), TlbResult::kReady);
  EXPECT_EQ(t.translate(52), TlbResult::kReady);  // the line itself could not go on
  EXPECT_EQ(t.image(), before);
  EXPECT_EQ(t.s.counters.wait_cycles, 40u);
}

TEST(Tlb, WalksUnderWayGoFirst) {
  Tlb t;
  t.operation({1, 2});
  ASSERT_EQ(t.translate(), TlbResult::kWalk);
  t.read(t.walker);
  t.reply(t.walker);  // its second read has not left
  EXPECT_EQ(t.translate(), TlbResult::kNoCredit);
  t.read(t.walker);
  EXPECT_EQ(t.translate(), TlbResult::kWalk);
}

TEST(Tlb, LineAtTheHeadKeepsItsTranslation) {
  Tlb t(1);
  t.operation({1, 2});
  ASSERT_EQ(t.translate(), TlbResult::kWalk);
  const uint32_t first = t.walker;
  t.read(first);
  ASSERT_EQ(t.translate(), TlbResult::kWalk);
  const uint32_t second = t.walker;
  t.reply(first);
  t.read(first);
  t.reply(first);
  EXPECT_EQ(t.translate(), TlbResult::kReady);  // but the line waits for something else
  t.finish(second);                             // meanwhile the other page takes the only entry
  EXPECT_FALSE(t.holds(1));
  EXPECT_EQ(t.translate(), TlbResult::kReady);
  t.done();
  EXPECT_EQ(t.translate(), TlbResult::kReady);
  EXPECT_EQ(t.s.counters.walks, 2u);
}

TEST(Tlb, PageFetchedAheadRanksBehindTheOneInUse) {
  Tlb t(2);
  t.access(9);
  t.operation({1, 2});
  ASSERT_EQ(t.translate(), TlbResult::kWalk);
  const uint32_t first = t.walker;
  t.read(first);
  ASSERT_EQ(t.translate(), TlbResult::kWalk);
  const uint32_t second = t.walker;
  t.reply(first);
  t.read(first);
  t.reply(first);
  t.finish(second);  // in the place of 9
  EXPECT_TRUE(t.holds(1));
  EXPECT_TRUE(t.holds(2));
  EXPECT_EQ(t.translate(), TlbResult::kReady);
  t.done();
  t.access(3);  // in the place of 2, which nobody used; 1 was
  EXPECT_TRUE(t.holds(1));
  EXPECT_FALSE(t.holds(2));
}

TEST(Tlb, FlushForgetsAllAndWhatIsUnderWay) {
  Tlb t(4, 2);
  t.access(1);
  t.access(2);
  t.operation({3, 1});
  ASSERT_EQ(t.translate(5), TlbResult::kWalk);
  const uint32_t stale = t.walker;
  t.read(stale);
  tlb_flush(t.p, t.s, t.arena.base());
  for (const uint32_t page : {1u, 2u, 3u}) EXPECT_FALSE(t.holds(page));
  EXPECT_EQ(t.translate(6), TlbResult::kWalk);  // once more: tables may have changed
  EXPECT_NE(t.walker, stale);
  const uint32_t fresh = t.walker;
  t.read(fresh);
  t.reply(stale);
  t.read(stale);
  t.reply(stale);
  EXPECT_FALSE(t.holds(3));
  EXPECT_EQ(t.translate(7), TlbResult::kWalk);  // 1 has to be walked again too
  t.finish(t.walker);
  t.reply(fresh);
  t.read(fresh);
  t.reply(fresh, 25);
  EXPECT_EQ(t.translate(25), TlbResult::kReady);
  t.done();
  EXPECT_EQ(t.translate(26), TlbResult::kReady);
  t.done();
  EXPECT_EQ(t.access(2), TlbResult::kWalk);
  EXPECT_EQ(t.s.counters.wait_cycles, 20u);
  EXPECT_EQ(t.s.counters.walks, 6u);
  EXPECT_EQ(t.s.counters.walk_reads, 12u);
  EXPECT_EQ(t.s.counters.flushes, 1u);
  EXPECT_EQ(t.s.free_walkers, 3u);
}

TEST(Tlb, EntriesHoldFrameAndMapUntilTheFlush) {
  Tlb t;
  t.tables = make_page_tables(t.arena, 1, 64 * 32, 5, 5);
  const auto map = [&](uint32_t page, uint32_t frame, uint32_t number) {
    t.tables.map_pages(t.arena.base(), 0, page, 1, frame * 32, number);
  };
  const auto physical = [&](LineAddr line) {
    return tlb_physical(t.p, t.s, t.tables.translation, t.arena.base(), 0, line);
  };
  map(7, 9, 1);
  EXPECT_EQ(t.access(7), TlbResult::kWalk);
  EXPECT_EQ(physical(7 * 32 + 3), 1u << 29 | (9 * 32 + 3));
  EXPECT_EQ(t.access(8), TlbResult::kWalk);
  EXPECT_EQ(physical(8 * 32 + 31), 8u * 32 + 31);
  map(7, 20, 2);
  EXPECT_EQ(t.access(7), TlbResult::kReady);
  EXPECT_EQ(physical(7 * 32), 1u << 29 | 9 * 32);  // what the walk found
  tlb_flush(t.p, t.s, t.arena.base());
  EXPECT_EQ(t.access(7), TlbResult::kWalk);
  EXPECT_EQ(physical(7 * 32), 2u << 29 | 20 * 32);
}

TEST(Tlb, EntriesBelongToTheirSpace) {
  Tlb t;
  t.tables = make_page_tables(t.arena, 2, 64 * 32, 5, 5);
  t.tables.map_pages(t.arena.base(), 1, 7, 1, 9 * 32, 0);
  const auto physical = [&] {
    return tlb_physical(t.p, t.s, t.tables.translation, t.arena.base(), t.space, 7 * 32);
  };
  EXPECT_EQ(t.access(7), TlbResult::kWalk);
  EXPECT_EQ(physical(), 7u * 32);
  t.space = 1;
  EXPECT_EQ(t.access(7), TlbResult::kWalk);
  EXPECT_EQ(physical(), 9u * 32);
  t.space = 0;
  EXPECT_EQ(t.access(7), TlbResult::kReady);
  EXPECT_EQ(physical(), 7u * 32);
  t.space = 15;  // walks read the tables of the space
  t.operation({16 * 5});
  ASSERT_EQ(t.translate(), TlbResult::kWalk);
  EXPECT_EQ(t.read(t.walker), 0xf0000000u + (1u << 24) + (15u << 20));
  t.reply(t.walker);
  EXPECT_EQ(t.read(t.walker), 0xf0000000u + (15u << 20) + 5);
}

TEST(Tlb, AParkedOperationFindsItsEntryAgain) {
  Tlb t(1);
  t.tables = make_page_tables(t.arena, 1, 64 * 32, 5, 5);
  t.tables.map_pages(t.arena.base(), 0, 1, 1, 9 * 32, 1);
  t.access(1);
  t.access(2);  // takes the only entry
  tlb_resume(t.p, t.s, t.tables.translation, t.arena.base(), 1, 10);
  EXPECT_EQ(tlb_physical(t.p, t.s, t.tables.translation, t.arena.base(), 0, 1 * 32),
            1u << 29 | 9 * 32);
}

TEST(Tlb, FlushTakesTheRegisterToo) {
  Tlb t;
  t.access(1);
  tlb_flush(t.p, t.s, t.arena.base());
  EXPECT_EQ(t.access(1), TlbResult::kWalk);
}

}  // namespace
}  // namespace nearwarp::sm
