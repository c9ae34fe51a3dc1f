// Which mapping does a line have, and do lines under different mappings keep apart?
#include "device/core/memory_map.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "device/core/arena.h"

namespace nearwarp {
namespace {

/// A map whose pages in `own` lie under consecutive bits from `shift` on.
struct Mixed {
  ArenaBuilder arena;
  MemoryMap map;

  Mixed(uint32_t shift, const std::vector<uint32_t>& own, uint32_t pages) {
    map.offload = arena.allocate<OffloadMapping>(1);
    const Ref<uint64_t> bits = arena.allocate<uint64_t>((pages + 63) / 64);
    OffloadMapping& o = *arena.get(map.offload);
    o.map = consecutive_bits_map(map.baseline, shift);
    o.pages = bits;
    o.enabled = 1;
    for (const uint32_t p : own) arena.get(bits)[p / 64] |= uint64_t{1} << (p % 64);
  }
};

TEST(MemoryMap, AnAddressMapHoldsEverywhere) {
  AddressMap one;
  one.stack_shift = 3;
  const MemoryMap map = one;
  for (const LineAddr line : {0u, 77u, 0xfffffff0u})
    EXPECT_EQ(map.of(line, nullptr).stack_of(line), one.stack_of(line));
}

TEST(MemoryMap, PagesAreUnderTheMappingOfTheirBit) {
  Mixed m(4, {1, 64, 70}, 128);
  for (uint32_t page = 0; page < 200; ++page) {
    const bool own = page == 1 || page == 64 || page == 70;
    for (uint32_t i = 0; i < 32; ++i) {
      const LineAddr line = page * 32 + i;
      const AddressMap& at = m.map.of(line, m.arena.base());
      EXPECT_EQ(at.hash_stack, own ? 0u : 1u) << "page " << page;
      if (!own) continue;
      EXPECT_EQ(at.stack_of(line), line >> 4 & 3);
    }
  }
  m.arena.get(m.map.offload)->enabled = 0;
  EXPECT_EQ(m.map.of(33, m.arena.base()).hash_stack, 1u);
}

TEST(MemoryMap, NoTwoLinesShareAPlace) {
  for (uint32_t shift = 0; shift < 10; ++shift) {
    std::vector<uint32_t> own;
    for (uint32_t p = 0; p < 512; ++p)
      if (p * 2654435761u >> 30 == 1) own.push_back(p);
    Mixed m(shift, own, 512);
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>> seen;
    for (LineAddr line = 0; line < 512 * 32; ++line) {
      const Location at = m.map.of(line, m.arena.base()).locate(line);
      ASSERT_TRUE(seen.insert({at.stack, at.vault, at.bank, at.row, at.column}).second)
          << "line " << line << ", shift " << shift;
    }
  }
}

TEST(MemoryMap, ConsecutiveBitsStillSpreadOverVaults) {
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
