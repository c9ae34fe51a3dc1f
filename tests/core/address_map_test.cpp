// Does the address map give every line a place of its own, use all places, and spread strides over
// all stacks?
#include "device/core/address_map.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

namespace nearwarp {
namespace {

using Place = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

Place place(const AddressMap& map, LineAddr line) {
  const Location at = map.locate(line);
  return {at.stack, at.vault, at.bank, at.row, at.column};
}

struct Bits {
  uint32_t stack, vault, column, bank, shift;
};

TEST(AddressMap, IsABijection) {
  const Bits shapes[] = {{2, 4, 5, 4, 0}, {2, 4, 5, 4, 5}, {2, 4, 5, 4, 9}, {0, 4, 5, 4, 0},
                         {1, 3, 2, 3, 1}, {3, 5, 4, 2, 3}, {4, 0, 1, 0, 0}, {0, 0, 0, 0, 0}};
  for (const Bits& b : shapes) {
    for (const uint32_t hash : {0u, 1u}) {
      AddressMap map;
      map.stack_bits = b.stack, map.vault_bits = b.vault, map.column_bits = b.column;
      map.bank_bits = b.bank, map.stack_shift = b.shift, map.hash = hash;
      SCOPED_TRACE(testing::Message() << b.stack << b.vault << b.column << b.bank << " shift "
                                      << b.shift << " hash " << hash);
      // 2^16 consecutive lines fill every place of the same number of places exactly once.
      constexpr uint32_t kBits = 16;
      const uint32_t row_bits = kBits - b.stack - b.vault - b.column - b.bank;
      std::set<Place> seen;
      for (LineAddr line = 0; line < 1u << kBits; ++line) {
        const Location at = map.locate(line);
        ASSERT_LT(at.stack, 1u << b.stack);
        ASSERT_LT(at.vault, 1u << b.vault);
        ASSERT_LT(at.bank, 1u << b.bank);
        ASSERT_LT(at.column, 1u << b.column);
        ASSERT_LT(at.row, 1u << row_bits);
        ASSERT_TRUE(seen.insert(place(map, line)).second) << line;
      }
    }
  }
}

TEST(AddressMap, HighLinesStayApart) {
  AddressMap map;
  std::set<Place> seen;
  uint32_t n = 0;
  for (LineAddr line = 0xfff00000u; n < 100'000; line += 7, ++n)
    ASSERT_TRUE(seen.insert(place(map, line)).second) << line;
}

TEST(AddressMap, ConsecutiveLinesTakeTurnsOverStacksAndVaults) {
  AddressMap map;
  for (const uint32_t hash : {0u, 1u}) {
    map.hash = hash;
    std::vector<uint32_t> vault(64, 0);
    for (LineAddr line = 4096; line < 4096 + 64; ++line)
      vault[map.stack_of(line) * 16 + map.vault_of(line)] += 1;
    for (const uint32_t n : vault) EXPECT_EQ(n, 1u);
  }
}

TEST(AddressMap, HashSpreadsPowerOfTwoStrides) {
  AddressMap map;
  for (uint32_t shift = 0; shift <= 12; ++shift) {
    std::vector<uint32_t> stack(4, 0), vault(16, 0);
    constexpr uint32_t kLines = 1u << 12;
    for (uint32_t i = 0; i < kLines; ++i) {
      stack[map.stack_of(i << shift)] += 1;
      vault[map.vault_of(i << shift)] += 1;
    }
    for (const uint32_t n : stack) {
      EXPECT_GE(n, kLines / 4 / 2) << "stride " << (1u << shift);
      EXPECT_LE(n, kLines / 4 * 2) << "stride " << (1u << shift);
    }
    for (const uint32_t n : vault) {
      EXPECT_GE(n, kLines / 16 / 2) << "stride " << (1u << shift);
      EXPECT_LE(n, kLines / 16 * 2) << "stride " << (1u << shift);
    }
  }
  map.hash = 0;  // without it a stride of all stacks and vaults stays in one
  for (uint32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(map.stack_of(i << 6), 0u);
    EXPECT_EQ(map.vault_of(i << 6), 0u);
  }
}

TEST(AddressMap, StackShiftKeepsNeighboursTogether) {
  AddressMap map;
  map.stack_shift = 5;
  map.hash = 0;
  for (LineAddr line = 0; line < 1024; ++line) EXPECT_EQ(map.stack_of(line), line / 32 % 4);
}

TEST(AddressMap, SlicesServeWholeVaults) {
  AddressMap map;
  for (LineAddr line = 0; line < 5000; ++line)
    EXPECT_EQ(map.slice_in_stack(line), map.vault_of(line) % 4);
}

TEST(AddressMap, WithinStackIsUniqueInEachStack) {
  AddressMap map;
  map.stack_shift = 3;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (LineAddr line = 0; line < 1u << 14; ++line)
    ASSERT_TRUE(seen.insert({map.stack_of(line), map.within_stack(line)}).second);
}

/// Counts that are not all powers of two.
AddressMap uneven(uint32_t stacks, uint32_t vaults, uint32_t slices) {
  AddressMap map;
  map.stacks = stacks, map.vaults = vaults, map.slices = slices;
  map.column_bits = 3, map.bank_bits = 2;
  return map;
}

TEST(AddressMap, AnyCountIsABijection) {
  for (const auto& [stacks, vaults] : {std::pair{6u, 2u}, {6u, 1u}, {3u, 4u}, {4u, 3u}, {5u, 7u}}) {
    for (const uint32_t shift : {0u, 4u}) {
      for (const uint32_t hash : {0u, 1u}) {
        AddressMap map = uneven(stacks, vaults, 1);
        map.stack_shift = shift, map.hash = hash;
        SCOPED_TRACE(testing::Message()
                     << stacks << " x " << vaults << " shift " << shift << " hash " << hash);
        constexpr uint32_t kRows = 16;
        std::set<Place> seen;
        for (LineAddr line = 0; line < stacks * vaults * 8 * 4 * kRows; ++line) {
          const Location at = map.locate(line);
          ASSERT_LT(at.stack, stacks);
          ASSERT_LT(at.vault, vaults);
          ASSERT_LT(at.bank, 4u);
          ASSERT_LT(at.column, 8u);
          ASSERT_LT(at.row, kRows);
          ASSERT_EQ(at.stack, map.stack_of(line));
          ASSERT_EQ(at.vault, map.vault_of(line));
          ASSERT_TRUE(seen.insert(place(map, line)).second) << line;
        }
      }
    }
  }
}

TEST(AddressMap, AnyCountIsMetInTurnAndByAnyStride) {
  const AddressMap map = uneven(6, 2, 2);
  std::vector<uint32_t> met(12, 0);
  for (LineAddr line = 12 * 1000; line < 12 * 1001; ++line)
    met[map.stack_of(line) * 2 + map.vault_of(line)] += 1;
  for (const uint32_t n : met) EXPECT_EQ(n, 1u);
  constexpr uint32_t kLines = 12 * 300;
  for (const uint32_t stride : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 64u, 96u, 1024u, 12'288u}) {
    std::vector<uint32_t> at(12, 0);
    for (uint32_t i = 0; i < kLines; ++i)
      at[map.stack_of(i * stride) * 2 + map.slice_in_stack(i * stride)] += 1;
    for (const uint32_t n : at) {
      EXPECT_GE(n, 300u * 3 / 4) << "stride " << stride;
      EXPECT_LE(n, 300u * 5 / 4) << "stride " << stride;
    }
  }
}

TEST(AddressMap, WithoutHashAnyCountIsPlainDivision) {
  AddressMap map = uneven(6, 4, 2);
  map.hash = 0;
  for (LineAddr line = 0; line < 2000; ++line) {
    EXPECT_EQ(map.stack_of(line), line % 6);
    EXPECT_EQ(map.vault_of(line), line / 6 % 4);
    EXPECT_EQ(map.slice_in_stack(line), line / 6 % 2);
    EXPECT_EQ(map.within_slice(line), line / 12);
    EXPECT_EQ(map.locate(line).column, line / 24 % 8);
    EXPECT_EQ(map.locate(line).row, line / 24 / 8 / 4);
  }
}

TEST(AddressMap, ASlicesLinesHaveNumbersOfTheirOwn) {
  for (const AddressMap& map : {AddressMap{}, uneven(6, 2, 2), uneven(6, 6, 2), uneven(3, 4, 4)}) {
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
    for (LineAddr line = 0; line < 10'000; ++line)
      ASSERT_TRUE(
          seen.insert({map.stack_of(line), map.slice_in_stack(line), map.within_slice(line)})
              .second)
          << line;
  }
}

TEST(AddressMap, FoldIsTheXorOfTheParts) {
  EXPECT_EQ(AddressMap::fold(0, 4), 0u);
  EXPECT_EQ(AddressMap::fold(0x1234, 4), 1u ^ 2 ^ 3 ^ 4);
  EXPECT_EQ(AddressMap::fold(0xffffffff, 0), 0u);
}

TEST(AddressMap, InOneStackLinesApartStayApart) {
  for (const bool divided : {false, true}) {
    AddressMap map;
    if (divided) map.stacks = 4, map.vaults = 16, map.slices = 4;
    const AddressMap local = one_stack_map(map);
    std::set<Place> places, folded;
    std::set<uint32_t> rows;
    constexpr LineAddr kLines = 1 << 16;
    for (LineAddr line = 0; line < kLines; ++line) {
      const Location at = local.locate(line), before = map.locate(line);
      EXPECT_EQ(at.stack, 0u);
      EXPECT_LT(at.vault, 16u);
      places.insert(place(local, line));
      folded.insert({0, before.vault, before.bank, before.row, before.column});
      rows.insert(before.row);
      EXPECT_EQ(rows.count(at.row), 0u);  // never one of the baseline's
    }
    EXPECT_EQ(places.size(), kLines);
    EXPECT_EQ(folded.size(), kLines / 4);  // what leaving out the stack would come to
  }
}

}  // namespace
}  // namespace nearwarp
