// Does translation find each page's frame and map, and keep lines under different maps apart?
#include "device/core/translation.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "device/core/arena.h"
#include "device/core/page_tables.h"

namespace nearwarp {
namespace {

constexpr uint32_t kPageShift = 5;  // 4 KB of 128-byte lines
constexpr uint32_t kPageLines = 1u << kPageShift;

/// Tables of 4 KB pages for TLBs with pages of 16 KB.
struct Tables {
  ArenaBuilder arena;
  PageTables t;

  explicit Tables(uint32_t spaces = 1, uint32_t pages = 64, uint32_t run_shift = kPageShift + 2)
      : t(make_page_tables(arena, spaces, pages * kPageLines, kPageShift, run_shift)) {}
  void map(uint32_t space, uint32_t first, uint32_t count, uint32_t frame, uint32_t number) {
    t.map_pages(arena.base(), space, first, count, frame * kPageLines, number);
  }
  LineAddr physical(LineAddr line, uint32_t space = 0) {
    return translate(t.translation, arena.base(), space, line);
  }
  PageEntry run(uint32_t number, uint32_t space = 0) {
    return run_entry(t.translation, arena.base(), space, number, t.run_shift);
  }
};

TEST(Translation, AnEntryIsFrameMapAndAttributes) {
  const PageEntry e = PageEntry::of(0x1234560, 5, 3);
  EXPECT_EQ(e.first_line(), 0x1234560u | 5u << 29);
  EXPECT_EQ(e.map(), 5u);
  EXPECT_EQ(e.attributes(), 3u);
  EXPECT_FALSE(e.mixed());
  EXPECT_TRUE((PageEntry{PageEntry::kMixed}).mixed());
}

TEST(Translation, WithoutATableEveryLineIsItself) {
  const Translation none;
  for (const LineAddr line : {0u, 77u, 0x1fffffffu, 0x20000000u, 0xefffffffu})
    EXPECT_EQ(translate(none, nullptr, 0, line), line);
  Tables t;
  for (const LineAddr line : {0u, 77u, 63u * 32 + 31, 64u * 32, 0x1fffffffu}) {
    EXPECT_EQ(t.physical(line), line);
    EXPECT_EQ(t.physical(line, 1), line);  // there is no second space
  }
}

TEST(Translation, PagesHaveFramesAndMapsOfTheirOwn) {
  Tables t;
  t.map(0, 3, 2, 40, 1);   // pages 3 and 4 to frames 40 and 41
  t.map(0, 63, 1, 63, 6);  // the last page, where it is
  EXPECT_EQ(t.physical(3 * 32 - 1), 3u * 32 - 1);
  EXPECT_EQ(t.physical(3 * 32), (1u << 29) + 40 * 32);
  EXPECT_EQ(t.physical(4 * 32 + 31), (1u << 29) + 41 * 32 + 31);
  EXPECT_EQ(t.physical(5 * 32), 5u * 32);
  EXPECT_EQ(t.physical(63 * 32 + 7), (6u << 29) + 63 * 32 + 7);
  EXPECT_EQ(t.physical(64 * 32 + 7), 64u * 32 + 7);
  t.map(0, 3, 2, 3, 0);  // back again
  for (LineAddr line = 0; line < 63 * 32; ++line) EXPECT_EQ(t.physical(line), line);
}

TEST(Translation, SpacesHaveTablesOfTheirOwn) {
  Tables t(3);
  t.map(1, 0, 32, 32, 0);  // two spaces in two halves of the memory
  t.map(2, 0, 32, 0, 2);
  std::set<LineAddr> lines;
  for (LineAddr line = 0; line < 32 * 32; ++line) {
    EXPECT_EQ(t.physical(line, 0), line);
    EXPECT_EQ(t.physical(line, 1), line + 32 * 32);
    EXPECT_EQ(t.physical(line, 2), line + (2u << 29));
    for (uint32_t space = 0; space < 3; ++space)
      EXPECT_TRUE(lines.insert(t.physical(line, space)).second);
  }
}

TEST(Translation, ATlbHoldsARunOfPagesOrSaysThatTheyDiffer) {
  Tables t;  // four pages in a run
  EXPECT_EQ(t.run(1).first_line(), 4u * 32);
  t.map(0, 4, 3, 4, 1);  // three pages of run 1
  EXPECT_TRUE(t.run(1).mixed());
  EXPECT_FALSE(t.run(0).mixed());
  EXPECT_EQ(t.run(2).first_line(), 8u * 32);
  t.map(0, 7, 1, 7, 1);  // and the last
  EXPECT_EQ(t.run(1).word, PageEntry::of(4 * 32, 1).word);
  t.map(0, 6, 4, 20, 1);  // frames out of order, in runs 1 and 2
  EXPECT_TRUE(t.run(1).mixed());
  EXPECT_TRUE(t.run(2).mixed());
  t.map(0, 4, 8, 21, 0);  // frames need not begin where a run could
  EXPECT_EQ(t.run(1).word, PageEntry::of(21 * 32, 0).word);
  EXPECT_EQ(t.run(2).word, PageEntry::of(25 * 32, 0).word);
  EXPECT_EQ(t.run(100).first_line(), 400u * 32);  // beyond the table
}

TEST(Translation, TheTableEndsWithAWholeRun) {
  Tables t(1, 5, kPageShift + 3);
  EXPECT_EQ(t.t.translation.spaces.in(t.arena.base())[0].pages.count, 8u);
  t.map(0, 0, 5, 0, 1);
  EXPECT_TRUE(t.run(0).mixed());
  t.map(0, 0, 8, 0, 1);
  EXPECT_EQ(t.run(0).word, PageEntry::of(0, 1).word);
}

TEST(Translation, PagesOfTheTableMayBeThoseOfTheTlb) {
  Tables t(1, 8, kPageShift);
  t.map(0, 2, 1, 5, 3);
  for (uint32_t page = 0; page < 10; ++page)
    EXPECT_EQ(t.run(page).word, page == 2 ? PageEntry::of(5 * 32, 3).word : page * 32);
}

/// Two maps: the baseline, and consecutive bits from `shift` on.
struct Maps {
  ArenaBuilder arena;
  AddressMaps maps;

  explicit Maps(uint32_t shift) {
    maps.others = arena.allocate<AddressMap>(1);
    AddressMap& own = *arena.get(maps.others);
    own = consecutive_bits_map(maps.baseline, shift);
    own.line_mask = kMaxMappedLines - 1;
  }
  const AddressMap& of(LineAddr line) { return maps.of(line, arena.base()); }
};

TEST(AddressMaps, OneMapHoldsEverywhere) {
  AddressMap one;
  one.stack_shift = 3;
  const AddressMaps maps = one;
  for (const LineAddr line : {0u, 77u, 0x20000000u, 0xfffffff0u})
    EXPECT_EQ(&maps.of(line, nullptr), &maps.baseline);
}

TEST(AddressMaps, TheHighestBitsOfALineNameItsMap) {
  Maps m(4);
  for (const LineAddr line : {0u, 77u, 0x1fffffffu}) {
    EXPECT_EQ(m.of(line).hash_stack, 1u);
    EXPECT_EQ(m.of(line | 1u << 29).hash_stack, 0u);
    EXPECT_EQ(m.of(line | 1u << 29).stack_of(line | 1u << 29), line >> 4 & 3);
  }
  EXPECT_EQ(&m.of(2u << 29), &m.maps.baseline);     // no such map
  EXPECT_EQ(&m.of(0xf0000000u), &m.maps.baseline);  // the walkers' page tables
}

TEST(AddressMaps, TheNumberOfTheMapDoesNotMoveALine) {
  for (uint32_t number = 0; number < kMaxMaps; ++number) {
    AddressMap map;
    map.line_mask = kMaxMappedLines - 1;
    AddressMap divided = map;
    divided.stacks = 6, divided.vaults = 2, divided.slices = 2;
    for (const AddressMap& m : {map, divided}) {
      for (const LineAddr line : {0u, 12345u, 0x1fffffffu, 0x10000001u}) {
        const Location a = m.locate(line), b = m.locate(line | number << kMapShift);
        EXPECT_EQ(std::tie(a.stack, a.vault, a.bank, a.row, a.column),
                  std::tie(b.stack, b.vault, b.bank, b.row, b.column));
        EXPECT_EQ(m.within_slice(line), m.within_slice(line | number << kMapShift));
        EXPECT_EQ(m.slice_in_stack(line), m.slice_in_stack(line | number << kMapShift));
      }
    }
  }
}

TEST(AddressMaps, NoTwoLinesShareAPlace) {
  for (uint32_t shift = 0; shift < 10; ++shift) {
    Maps m(shift);
    Tables t(1, 512);
    for (uint32_t p = 0; p < 512; ++p)
      if (p * 2654435761u >> 30 == 1) t.map(0, p, 1, p, 1);
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>> seen;
    for (LineAddr line = 0; line < 512 * 32; ++line) {
      const LineAddr physical = t.physical(line);
      const Location at = m.of(physical).locate(physical);
      ASSERT_TRUE(seen.insert({at.stack, at.vault, at.bank, at.row, at.column}).second)
          << "line " << line << ", shift " << shift;
    }
  }
}

TEST(AddressMaps, ConsecutiveBitsStillSpreadOverVaults) {
  const AddressMap map = consecutive_bits_map(AddressMap{}, 9);
  std::set<uint32_t> vaults;
  for (LineAddr line = 0; line < 512; ++line) {
    EXPECT_EQ(map.stack_of(line), 0u);
    vaults.insert(map.vault_of(line));
  }
  EXPECT_EQ(vaults.size(), 16u);
}

}  // namespace
}  // namespace nearwarp
