// Which set a line belongs to: every function uses all sets evenly, and strides that are powers of
// two do not end in one set where it is a hash.
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
        SetIndex{32, 5, SetFunction::kFermi}}) {
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
