// Are the slices of machine `opportunistic` where the paper's text has them, and of all places that
// the text permits in the one that it describes best? tools/placements is the same, to look at.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "host/config/config.h"
#include "host/mechanisms/opportunistic/meet_node.h"

namespace nearwarp::opportunistic {
namespace {

constexpr uint32_t kWidth = 8, kTiles = 64;

sim::Tiles tiles_with(const std::vector<uint32_t>& memory) {
  sim::Tiles t{kWidth, kWidth, true, {}, memory};
  for (uint32_t n = 0; n < kTiles; ++n)
    if (std::find(memory.begin(), memory.end(), n) == memory.end()) t.sms.push_back(n);
  return t;
}

bool passes(uint32_t from, uint32_t to, uint32_t tile) {
  const std::vector<uint32_t> tiles = path(kWidth, from, to, true);
  return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
}

/// Whether a placement agrees with sections 3.1 and 3.2 (distances of core 15 and LLCs 5 to 7; core
/// 36, where YX routes meet) and 4.1 (routes of LLCs 0 and 6 meet nowhere).
bool is_permitted(const std::vector<uint32_t>& llc) {
  const sim::Tiles t = tiles_with(llc);
  const uint32_t core = t.sms[15], meets = t.sms[36];
  const auto far = [](uint32_t a, uint32_t b) { return hops(kWidth, a, b); };
  return far(core, llc[5]) == 8 && far(core, llc[6]) == 5 && far(core, llc[7]) == 8 &&
         far(core, meets) == 3 && far(meets, llc[5]) == 5 && far(meets, llc[6]) == 2 &&
         far(meets, llc[7]) == 5 && meet_node(t, core, llc[5], llc[6]) == meets &&
         passes(core, llc[5], meets) && passes(core, llc[6], meets) &&
         !meet_node(t, core, llc[0], llc[6]);
}

/// All such placements with a slice in each row, numbered row by row.
std::vector<std::vector<uint32_t>> permitted() {
  std::vector<std::vector<uint32_t>> found;
  for (uint32_t low = 0; low < 4096; ++low) {  // columns in rows 2, 5, 6 and 7
    std::vector<uint32_t> llc = {
        0, 8, 16 + (low & 7), 24, 32, 40 + (low >> 3 & 7), 48 + (low >> 6 & 7), 56 + (low >> 9)};
    const uint32_t core = tiles_with(llc).sms[15];  // in row 2
    if (hops(kWidth, core, llc[5]) != 8 || hops(kWidth, core, llc[6]) != 5 ||
        hops(kWidth, core, llc[7]) != 8)
      continue;
    for (uint32_t high = 0; high < 4096; ++high) {
      llc[0] = high & 7;
      llc[1] = 8 + (high >> 3 & 7);
      llc[3] = 24 + (high >> 6 & 7);
      llc[4] = 32 + (high >> 9);
      if (is_permitted(llc)) found.push_back(llc);
    }
  }
  return found;
}

/// Counts the packets, requests and replies, that pass each link, by (from, to).
class Traffic {
 public:
  /// The packets at the busiest link, and the sum of squares over all links as a measure of
  /// unevenness. Every core sends a packet to every slice, and gets a reply.
  std::pair<uint32_t, uint64_t> of(const std::vector<uint32_t>& llc) {
    counts_.fill(0);
    for (const uint32_t core : tiles_with(llc).sms)
      for (const uint32_t slice : llc) {
        add(core, slice, 0);
        add(slice, core, 1);
      }
    uint32_t most = 0;
    uint64_t squares = 0;
    for (const uint32_t n : counts_) {
      most = std::max(most, n);
      squares += uint64_t{n} * n;
    }
    return {most, squares};
  }

 private:
  void add(uint32_t from, uint32_t to, uint32_t network) {
    // Columns first, link by link: 0 down, 1 up, 2 right, 3 left.
    uint32_t x = from % kWidth, y = from / kWidth;
    const uint32_t to_x = to % kWidth, to_y = to / kWidth;
    const auto pass = [&](uint32_t way) {
      counts_[((network * kTiles) + y * kWidth + x) * 4 + way] += 1;
    };
    for (; y < to_y; ++y) pass(0);
    for (; y > to_y; --y) pass(1);
    for (; x < to_x; ++x) pass(2);
    for (; x > to_x; --x) pass(3);
  }
  std::array<uint32_t, 2 * kTiles * 4> counts_{};
};

TEST(Placement, TheMachinesIsPermitted) {
  EXPECT_TRUE(is_permitted(config::memory_tiles(config::load_machine("opportunistic"))));
  EXPECT_FALSE(is_permitted({0, 15, 16, 31, 32, 47, 48, 63}));
  EXPECT_FALSE(is_permitted({3, 12, 18, 29, 35, 46, 49, 60}));  // LLC 6 a tile further
}

TEST(Placement, AndOfAllThatAreTheOneWithTheFewestHotspotsAndTheMostEvenLinks) {
  // Section 2: "efficient link usage, while minimizing link hotspots that arise due to dimensional
  // routing". Four placements are equal in this; the machine has the lexicographically first.
  const std::vector<std::vector<uint32_t>> all = permitted();
  EXPECT_EQ(all.size(), 21504u);
  Traffic traffic;
  using Rank = std::tuple<uint32_t, uint64_t, std::vector<uint32_t>>;
  Rank best{~0u, 0, {}};
  for (const std::vector<uint32_t>& llc : all) {
    const auto [most, squares] = traffic.of(llc);
    best = std::min(best, Rank{most, squares, llc});
  }
  EXPECT_EQ(std::get<0>(best), 49u);
  EXPECT_EQ(std::get<2>(best), config::memory_tiles(config::load_machine("opportunistic")));
}

}  // namespace
}  // namespace nearwarp::opportunistic
