// To which set does a line belong? Every function uses all sets evenly, and strides that are powers
// of two do not end in one set where it is a hash.
#include "device/cache/set_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace nearwarp::cache {
namespace {

TEST(SetIndex, RowsOfLinesAreSpreadEvenly) {
  for (const auto& index :
       {SetIndex{64, 6, SetFunction::kLinear}, SetIndex{64, 6, SetFunction::kXor},
        SetIndex{32, 5, SetFunction::kXor}, SetIndex{64, 6, SetFunction::kFermi},
        SetIndex{32, 5, SetFunction::kFermi}, SetIndex{16, 4, SetFunction::kFolded},
        SetIndex{32, 5, SetFunction::kPolynomial, 0b101},
        SetIndex{64, 6, SetFunction::kPolynomial, 0b11}}) {
    std::vector<uint32_t> lines(index.sets);
    for (LineAddr line = 5 * index.sets; line < 5 * index.sets + 1024; ++line)
      lines.at(index.of(line)) += 1;
    EXPECT_EQ(lines, std::vector<uint32_t>(index.sets, 1024 / index.sets));
  }
}

TEST(SetIndex, FermisHashIsThatOfItsPaper) {
  const SetIndex small{32, 5, SetFunction::kFermi}, large{64, 6, SetFunction::kFermi};
  const auto line = [](uint64_t address) { return static_cast<LineAddr>(address / 128); };
  const auto bit = [](uint32_t n) { return uint64_t{1} << n; };
  // Each bit of the address, and the bit of the set that it turns.
  const uint32_t turned[][2] = {{7, 0},  {8, 1},  {9, 2},  {10, 3}, {11, 4},
                                {13, 0}, {14, 1}, {15, 2}, {17, 3}, {19, 4}};
  for (const auto& [address, set] : turned) {
    EXPECT_EQ(small.of(line(bit(address))), 1u << set) << address;
    EXPECT_EQ(large.of(line(bit(address))), 1u << set) << address;
    EXPECT_EQ(small.of(line(bit(address) ^ bit(9))), (1u << set) ^ 4u) << address;
  }
  for (const uint32_t unused : {16, 18, 20, 25}) EXPECT_EQ(large.of(line(bit(unused))), 0u);
  EXPECT_EQ(small.of(line(bit(12))), 0u);
  EXPECT_EQ(large.of(line(bit(12))), 32u);
}

TEST(SetIndex, ThePolynomialsRemaindersAreThoseOfGpgpuSim) {
  // Bits of the set that each bit of the line's number turns, from the first one above the set on.
  const auto expect = [](const SetIndex& index, const std::vector<uint32_t>& columns) {
    for (uint32_t j = 0; j < index.bits; ++j) EXPECT_EQ(index.of(1u << j), 1u << j);
    for (uint32_t j = 0; j < columns.size(); ++j)
      EXPECT_EQ(index.of(1u << (index.bits + j)), columns[j]) << index.sets << " sets, bit " << j;
  };
  expect({16, 4, SetFunction::kPolynomial, 0b0011},
         {0b0011, 0b0110, 0b1100, 0b1011, 0b0101, 0b1010, 0b0111, 0b1110, 0b1111, 0b1101, 0b1001});
  expect({32, 5, SetFunction::kPolynomial, 0b00101},
         {0b00101, 0b01010, 0b10100, 0b01101, 0b11010, 0b10001, 0b00111, 0b01110, 0b11100, 0b11101,
          0b11111});
  expect({64, 6, SetFunction::kPolynomial, 0b000011},
         {0b000011, 0b000110, 0b001100, 0b011000, 0b110000, 0b100011, 0b000101, 0b001010, 0b010100,
          0b101000, 0b010011});
  const SetIndex index{32, 5, SetFunction::kPolynomial, 0b00101};
  for (const LineAddr line : {0x12345678u, 0xffffffffu, 0x80000001u})
    EXPECT_EQ(index.of(line), index.of(line & 0xffffu) ^ index.of(line & 0xffff0000u));
}

TEST(SetIndex, NoStrideOfAPowerOfTwoHasConflictsUnderThePolynomial) {
  const SetIndex index{32, 5, SetFunction::kPolynomial, 0b00101};
  for (uint32_t shift = 0; shift < 27; ++shift) {
    std::vector<bool> used(32);
    for (uint32_t i = 0; i < 32; ++i) used[index.of(i << shift)] = true;
    EXPECT_EQ(std::count(used.begin(), used.end(), true), 32) << shift;
  }
}

TEST(SetIndex, FoldedTakesPiecesOfAllBits) {
  const SetIndex index{16, 4, SetFunction::kFolded};
  EXPECT_EQ(index.of(0x12345678u), 1u ^ 2u ^ 3u ^ 4u ^ 5u ^ 6u ^ 7u ^ 8u);
  EXPECT_EQ((SetIndex{1, 0, SetFunction::kFolded}.of(0x1234)), 0u);
}

TEST(SetIndex, StridesThatArePowersOfTwoUseMoreThanOneSet) {
  for (const SetFunction function : {SetFunction::kXor, SetFunction::kFermi}) {
    const SetIndex index{64, 6, function};
    std::vector<bool> used(64);
    for (uint32_t i = 0; i < 64; ++i) used[index.of(i * 64)] = true;
    EXPECT_GE(std::count(used.begin(), used.end(), true), 16) << static_cast<int>(function);
  }
}

}  // namespace
}  // namespace nearwarp::cache
