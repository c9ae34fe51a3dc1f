// Are the sectors, lines and bytes of an access those that its lanes touch?
#include "host/timing/profile/access.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace nearwarp::profile {
namespace {

using report::AccessCounts;

constexpr uint64_t kBase = 0x7f00'0000'0000;
constexpr uint32_t kAll = 0xffffffff;

/// The counts of lanes `step` bytes apart, in lines of 128 bytes.
AccessCounts strided(int64_t step, uint32_t bytes, uint32_t mask = kAll, uint64_t base = kBase) {
  uint64_t address[32];
  for (int64_t i = 0; i < 32; ++i) address[i] = base + static_cast<uint64_t>(step * i);
  return count_access(address, mask, bytes, 7);
}

void expect(const AccessCounts& c, uint64_t lanes, uint64_t sectors, uint64_t lines,
            uint64_t bytes) {
  EXPECT_EQ(c.accesses, 1u);
  EXPECT_EQ(c.lanes, lanes);
  EXPECT_EQ(c.sectors, sectors);
  EXPECT_EQ(c.lines, lines);
  EXPECT_EQ(c.bytes, bytes);
}

TEST(Access, Strided) {
  expect(strided(4, 4), 32, 4, 1, 128);
  expect(strided(4, 4, kAll, kBase + 4), 32, 5, 2, 128);
  expect(strided(-4, 4, kAll, kBase + 124), 32, 4, 1, 128);
  expect(strided(8, 4), 32, 8, 2, 128);
  expect(strided(8, 8), 32, 8, 2, 256);
  expect(strided(16, 16), 32, 16, 4, 512);
  expect(strided(1, 1), 32, 1, 1, 32);
  expect(strided(128, 4), 32, 32, 32, 128);
  expect(strided(0, 8), 32, 1, 1, 8);
}

TEST(Access, SomeLanes) {
  expect(strided(4, 4, 1), 1, 1, 1, 4);
  expect(strided(4, 4, 0xff), 8, 1, 1, 32);
  expect(strided(4, 4, 0x01010101), 4, 4, 1, 16);
  expect(strided(4, 4, 0x80000001), 2, 2, 1, 8);
}

TEST(Access, WhatLanesShareCountsOnce) {
  expect(strided(2, 4), 32, 3, 1, 66);  // ranges that overlap, the last into a third sector
  expect(strided(4, 4, kAll, kBase + 30), 32, 5, 2, 128);
}

TEST(Access, GatheredInAnyOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    const uint32_t bytes = 1u << random() % 5, shift = 5 + static_cast<uint32_t>(random() % 4);
    const uint32_t mask = static_cast<uint32_t>(random()) | 1;
    uint64_t address[32];
    for (uint64_t& a : address) a = kBase + random() % (round % 2 == 0 ? 500 : 100'000);
    std::set<uint64_t> all, sectors, lines;
    uint64_t lanes = 0;
    for (uint32_t i = 0; i < 32; ++i) {
      if ((mask >> i & 1) == 0) continue;
      ++lanes;
      for (uint32_t b = 0; b < bytes; ++b) {
        all.insert(address[i] + b);
        sectors.insert((address[i] + b) / 32);
        lines.insert((address[i] + b) >> shift);
      }
    }
    expect(count_access(address, mask, bytes, shift), lanes, sectors.size(), lines.size(),
           all.size());
  }
}

}  // namespace
}  // namespace nearwarp::profile
