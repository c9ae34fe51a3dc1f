// Does the coalescer find the lines, sectors and bank conflicts that a direct computation finds?
#include "device/sm/coalescer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/support/program.h"

namespace nearwarp::sm {
namespace {

using testing::kBase;
using testing::kFull;
constexpr LineGrid kGrid{kBase, 7};

LineList lines_of(const std::vector<uint64_t>& words, uint32_t mask) {
  LineList list;
  coalesce({words.data(), 0, mask}, kGrid, list);
  return list;
}
std::vector<uint64_t> strided(uint64_t offset, int stride) {
  return {trace::memory_record(kBase + offset, stride)};
}

TEST(Coalescer, UnitStrideIsOneLine) {
  const LineList l = lines_of(strided(5 * 128, 4), kFull);
  ASSERT_EQ(l.count, 1u);
  EXPECT_EQ(l.line[0], 5u);
  EXPECT_EQ(l.sectors[0], 0xf);
  EXPECT_EQ(l.next, 0u);
}

TEST(Coalescer, RoundsAreTheMostLanesOfOneAddress) {
  const auto rounds = [](const std::vector<uint64_t>& words, uint32_t mask) {
    LineList list = lines_of(words, mask);
    count_rounds({words.data(), 0, mask}, kGrid, list);
    const std::vector<uint32_t> all(list.rounds, list.rounds + list.count);
    return all;
  };
  EXPECT_EQ(rounds(strided(0, 0), kFull), std::vector<uint32_t>{32});
  EXPECT_EQ(rounds(strided(0, 0), 0xf0f), std::vector<uint32_t>{8});
  EXPECT_EQ(rounds(strided(0, 4), kFull), std::vector<uint32_t>{1});
  EXPECT_EQ(rounds(strided(96, 4), kFull), (std::vector<uint32_t>{1, 1}));
}

/// The packets that an atomic is split into: line and sectors of each.
std::vector<std::pair<LineAddr, uint32_t>> packets_of(AtomicPackets packets,
                                                      const std::vector<uint64_t>& words,
                                                      uint32_t mask = kFull) {
  LineList list;
  list.next = 9;
  split_atomic({words.data(), 0, mask}, kGrid, packets, list);
  EXPECT_EQ(list.next, 0u);
  std::vector<std::pair<LineAddr, uint32_t>> all;
  for (uint32_t i = 0; i < list.count; ++i) {
    EXPECT_EQ(list.rounds[i], 1);
    all.emplace_back(list.line[i], list.sectors[i]);
  }
  return all;
}
using PacketList = std::vector<std::pair<LineAddr, uint32_t>>;

TEST(Coalescer, AtomicsByLanesAreAPacketEach) {
  const auto lanes = [](const std::vector<uint64_t>& words, uint32_t mask) {
    return packets_of(AtomicPackets::kLanes, words, mask);
  };
  EXPECT_EQ(lanes(strided(5 * 128, 0), kFull), PacketList(32, {5, 1}));
  EXPECT_EQ(lanes(strided(120, 4), 0x7), (PacketList{{0, 8}, {0, 8}, {1, 1}}));
  EXPECT_EQ(lanes(strided(0, 32), 0x80000011), (PacketList{{0, 1}, {1, 1}, {7, 8}}));
}

TEST(Coalescer, AtomicsBySectorsShareAPacketWhereAddressesDiffer) {
  const auto sectors = [](const std::vector<uint64_t>& words, uint32_t mask = kFull) {
    return packets_of(AtomicPackets::kSectors, words, mask);
  };
  EXPECT_EQ(sectors(strided(5 * 128, 0)), PacketList(32, {5, 1}));
  EXPECT_EQ(sectors(strided(128, 4)), (PacketList{{1, 1}, {1, 2}, {1, 4}, {1, 8}}));
  EXPECT_EQ(sectors(strided(128, 4), 0x10003), (PacketList{{1, 1}, {1, 4}}));
  EXPECT_EQ(sectors(strided(96, 16), 0xf), (PacketList{{0, 8}, {1, 1}}));
  // Three lanes access one word, two another word of the same sector, and one another sector.
  const uint64_t at[] = {0, 4, 0, 64, 4, 0};
  uint64_t address[32] = {}, words[trace::kMaxRecordWords];
  for (uint32_t i = 0; i < 6; ++i) address[i] = kBase + 256 + at[i];
  const uint32_t n = trace::write_record(words, 0x3f, address);
  EXPECT_EQ(sectors({words, words + n}, 0x3f), (PacketList{{2, 1}, {2, 1}, {2, 4}, {2, 1}}));
}

TEST(Coalescer, WordsAreThoseThatAreWrittenCompletely) {
  const auto written = [](const std::vector<uint64_t>& words, uint32_t mask, uint32_t bytes) {
    LineList list = lines_of(words, mask);
    mark_words({words.data(), 0, mask}, bytes, kGrid, list);
    return std::vector<uint64_t>(list.words, list.words + list.count);
  };
  using Words = std::vector<uint64_t>;
  EXPECT_EQ(written(strided(0, 4), kFull, 4), Words{0xffffffff});
  EXPECT_EQ(written(strided(0, 4), 0x5, 4), Words{0x5});
  EXPECT_EQ(written(strided(96, 4), kFull, 4), (Words{0xff000000, 0x00ffffff}));
  EXPECT_EQ(written(strided(0, 8), kFull, 4), (Words{0x55555555, 0x55555555}));
  EXPECT_EQ(written(strided(0, 16), 0x3, 16), Words{0xff});
  EXPECT_EQ(written(strided(128, -128), 0x3, 4), (Words{1, 1}));
  EXPECT_EQ(written(strided(8, 1), 0x7f, 1), Words{0x4});  // seven bytes fill one word
  EXPECT_EQ(written(strided(8, 2), 0x7, 2), Words{0x4});
  EXPECT_EQ(written(strided(8, 0), kFull, 2), Words{0});
}

TEST(Coalescer, ShiftedUnitStrideIsTwoLines) {
  const LineList l = lines_of(strided(5 * 128 + 96, 4), kFull);
  ASSERT_EQ(l.count, 2u);
  EXPECT_EQ(l.line[0], 5u);
  EXPECT_EQ(l.line[1], 6u);
  EXPECT_EQ(l.sectors[0], 0x8);
  EXPECT_EQ(l.sectors[1], 0x7);
}

TEST(Coalescer, EightByteStride) {
  const LineList l = lines_of(strided(0, 8), kFull);
  ASSERT_EQ(l.count, 2u);
  EXPECT_EQ(l.sectors[0], 0xf);
  EXPECT_EQ(l.sectors[1], 0xf);
}

TEST(Coalescer, LineStrideIsOneLinePerLane) {
  const LineList l = lines_of(strided(0, 128), kFull);
  ASSERT_EQ(l.count, 32u);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(l.line[i], i);
    EXPECT_EQ(l.sectors[i], 1);
  }
}

TEST(Coalescer, OrderIsThatOfTheFirstLanes) {
  const LineList l = lines_of(strided(31 * 128, -128), 0x0000ff00u);
  ASSERT_EQ(l.count, 8u);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(l.line[i], 31 - 8 - i);
}

TEST(Coalescer, BroadcastAndMaskedLanes) {
  EXPECT_EQ(lines_of(strided(300, 0), kFull).count, 1u);
  EXPECT_EQ(lines_of(strided(300, 0), 0x80000000u).sectors[0], 1u << 1);
  EXPECT_EQ(lines_of(strided(0, 128), 0x80000001u).line[1], 31u);
}

TEST(Coalescer, StridesAgreeWithTheAddresses) {
  std::mt19937 random(5);
  for (int round = 0; round < 4000; ++round) {
    const int stride = static_cast<int>(random() % 80) - 20;
    const uint32_t lanes = random() % 32 + 1, first = random() % (33 - lanes);
    const auto run = static_cast<uint32_t>(low_bits(lanes)) << first;
    const uint32_t mask = round % 4 == 0 ? run & (random() | 1u << first) : run;
    const uint32_t shift = 5 + random() % 4;
    const uint64_t base = kBase + 4096 + random() % 512;
    const uint64_t word = trace::memory_record(base, stride);
    LineList l;
    coalesce({&word, 0, mask}, {kBase, shift}, l);
    std::vector<std::pair<LineAddr, uint32_t>> lines;
    for (uint32_t i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      const uint64_t at = base - kBase + static_cast<uint64_t>(static_cast<int64_t>(stride) * i);
      const auto line = static_cast<LineAddr>(at >> shift);
      const uint32_t sector = 1u << (at % (1u << shift) / 32);
      const auto known = std::find_if(lines.begin(), lines.end(),
                                      [&](const auto& entry) { return entry.first == line; });
      if (known == lines.end()) {
        lines.emplace_back(line, sector);
      } else {
        known->second |= sector;
      }
    }
    ASSERT_EQ(l.count, lines.size());
    for (uint32_t i = 0; i < l.count; ++i) {
      EXPECT_EQ(l.line[i], lines[i].first);
      EXPECT_EQ(l.sectors[i], lines[i].second);
    }
  }
}

TEST(Coalescer, AnyRecordFormAgreesWithTheAddresses) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const uint32_t mask = random() | 1u << random() % 32;
    uint64_t address[32];
    for (uint64_t& a : address) {
      a = kBase + random() % (round % 5 == 0 ? 512 : 1u << 20);
      if (round % 7 == 0) a += uint64_t{random() % 4} << 34;  // too far apart for deltas
    }
    if (round % 3 == 0)
      for (uint32_t i = 0; i < 32; ++i) address[i] = kBase + 4096 + 12 * i;
    uint64_t words[trace::kMaxRecordWords];
    const uint32_t n = trace::write_record(words, mask, address);
    LineList l = lines_of({words, words + n}, mask);
    std::vector<LineAddr> order;
    std::map<LineAddr, uint32_t> sectors;
    for (uint32_t i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      const auto line = static_cast<LineAddr>((address[i] - kBase) >> 7);
      if (sectors.count(line) == 0) order.push_back(line);
      sectors[line] |= 1u << (address[i] % 128 / 32);
    }
    ASSERT_EQ(l.count, order.size());
    for (uint32_t i = 0; i < l.count; ++i) {
      EXPECT_EQ(l.line[i], order[i]);
      EXPECT_EQ(l.sectors[i], sectors[order[i]]);
    }
  }
}

TEST(Coalescer, AddressesInTurnAreThoseOfSingleLanes) {
  std::mt19937 random(12);
  const uint64_t top = trace::kAddressMask - 1000;  // progressions wrap around there
  for (int round = 0; round < 300; ++round) {
    const uint32_t mask = round % 10 == 0 ? kFull : random();
    std::vector<uint64_t> words;
    if (round % 4 == 0) {
      words = {trace::memory_record(top, static_cast<int>(random() % 4096) - 2048)};
    } else if (round % 4 == 1) {
      const auto rows = static_cast<int32_t>(random() % 100'000) - 50'000;
      words = {trace::memory_record(kBase, trace::kTiles),
               trace::tile_word(rows, static_cast<int>(random() % 64) - 32, 3 + random() % 2)};
    } else {
      const bool deltas = round % 4 == 2;
      words = {trace::memory_record(kBase, deltas ? trace::kDeltas : trace::kAddresses)};
      for (uint32_t i = 0; i < 32; ++i) {
        const uint64_t word = uint64_t{random()} << 32 | random();
        words.push_back(deltas ? word : word & trace::kAddressMask);
      }
    }
    uint32_t seen = 0;
    each_address({words.data(), 0, mask}, [&](uint32_t lane, uint64_t address) {
      EXPECT_EQ(seen >> lane, 0u);  // in order, once
      seen |= 1u << lane;
      EXPECT_EQ(address, lane_address({words.data(), 0, mask}, lane));
    });
    EXPECT_EQ(seen, mask);
  }
}

uint32_t conflicts(const std::vector<uint64_t>& words, uint32_t mask, uint32_t bytes,
                   uint32_t banks = 32) {
  return bank_cycles({words.data(), 0, mask}, bytes, banks);
}

TEST(BankConflicts, Strides) {
  const auto shared = [](int stride) {
    return std::vector<uint64_t>{trace::memory_record(256, stride)};
  };
  EXPECT_EQ(conflicts(shared(0), kFull, 4), 1u);  // one word for all
  EXPECT_EQ(conflicts(shared(4), kFull, 4), 1u);
  EXPECT_EQ(conflicts(shared(-4), kFull, 4), 1u);
  EXPECT_EQ(conflicts(shared(8), kFull, 4), 2u);
  EXPECT_EQ(conflicts(shared(16), kFull, 4), 4u);
  EXPECT_EQ(conflicts(shared(128), kFull, 4), 32u);
  EXPECT_EQ(conflicts(shared(132), kFull, 4), 1u);  // the usual padding
  EXPECT_EQ(conflicts(shared(12), kFull, 4), 1u);   // odd number of words
  EXPECT_EQ(conflicts(shared(1), kFull, 1), 1u);    // lanes share words
  EXPECT_EQ(conflicts(shared(128), 0x000000ffu, 4), 8u);
  EXPECT_EQ(conflicts(shared(8), kFull, 8), 2u);  // 64 words through 32 banks
  EXPECT_EQ(conflicts(shared(16), kFull, 16), 4u);
  EXPECT_EQ(conflicts(shared(0), kFull, 8), 2u);  // estimate: a word per cycle
  EXPECT_EQ(conflicts(shared(64), kFull, 4, 16), 32u);
}

TEST(BankConflicts, RandomAddressesAgreeWithACount) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const uint32_t mask = random() | 1u;
    const uint32_t bytes = 4u << round % 3;
    uint64_t address[32];
    for (uint64_t& a : address) a = random() % 2048 * bytes;
    uint64_t words[trace::kMaxRecordWords];
    const uint32_t n = trace::write_record(words, mask, address);
    std::set<uint64_t> wanted;
    for (uint32_t i = 0; i < 32; ++i)
      for (uint32_t k = 0; k < bytes / 4; ++k)
        if ((mask >> i & 1) != 0) wanted.insert(address[i] / 4 + k);
    std::map<uint64_t, uint32_t> by_bank;
    uint32_t most = 0;
    for (const uint64_t w : wanted) most = std::max(most, ++by_bank[w % 32]);
    EXPECT_EQ(conflicts({words, words + n}, mask, bytes), most);
  }
}

}  // namespace
}  // namespace nearwarp::sm
