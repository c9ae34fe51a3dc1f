// The store of tags below all caches and TLBs: does each policy replace the line that it should, by
// sequences worked out by hand, and is code for 4, 8 and 16 ways the same as code for any?
#include "device/cache/tag_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "device/core/arena.h"

namespace nearwarp::cache::tag_store_test {
namespace {

/// A cache that holds nothing but its tags.
struct Cache {
  TagStoreParams p;
  ArenaBuilder arena;
  TagStore s;

  explicit Cache(Replacement replacement, uint32_t ways = 4, uint32_t set_bits = 0) {
    p = {{1u << set_bits, set_bits, SetFunction::kLinear}, ways, replacement};
    s = make_tag_store(arena, p);
  }
  uint32_t choose(LineAddr line, uint64_t waiting = 0) {
    return victim(p, s, arena.base(), first_way(p, line),
                  [waiting](uint32_t w) { return (waiting >> w & 1) != 0; });
  }
  bool holds(LineAddr line) {
    return find(p.ways, arena.get(s.tags) + first_way(p, line), line) != kNoLane;
  }
  /// Uses a line, which is fetched if it misses. Returns the line that it replaces; none if it hits
  /// or a way was empty.
  std::optional<LineAddr> use(LineAddr line, uint64_t waiting = 0) {
    const uint32_t first = first_way(p, line);
    const uint32_t w = find(p.ways, arena.get(s.tags) + first, line);
    if (w != kNoLane) {
      touch(p, s, arena.base(), first + w);
      return {};
    }
    const uint32_t way = choose(line, waiting);
    if (way == kNoLane) ADD_FAILURE() << "no way for " << line;
    const LineAddr before = arena.get(s.tags)[first + way];
    put(p, s, arena.base(), first + way, line);
    return before == kNoLine ? std::optional<LineAddr>() : before;
  }
  void use_all(const std::vector<LineAddr>& lines) {
    for (const LineAddr line : lines) EXPECT_EQ(use(line), std::nullopt) << line;
  }
  void drop(LineAddr line) {
    const uint32_t first = first_way(p, line);
    arena.get(s.tags)[first + find(p.ways, arena.get(s.tags) + first, line)] = kNoLine;
  }
};

constexpr Replacement kAll[] = {Replacement::kLru, Replacement::kFifo, Replacement::kRandom,
                                Replacement::kSrrip};

TEST(TagStore, LruReplacesTheLineUsedLeastRecently) {
  Cache c(Replacement::kLru);
  c.use_all({1, 2, 3, 4, 1, 3});
  EXPECT_EQ(c.use(5), 2u);
  EXPECT_EQ(c.use(6), 4u);
  EXPECT_EQ(c.use(1), std::nullopt);
  EXPECT_EQ(c.use(7), 3u);
  EXPECT_EQ(c.use(8), 5u);
}

TEST(TagStore, FifoReplacesTheLineThatCameFirst) {
  Cache c(Replacement::kFifo);
  c.use_all({1, 2, 3, 4, 1, 3});
  EXPECT_EQ(c.use(5), 1u);
  EXPECT_EQ(c.use(6), 2u);
  EXPECT_EQ(c.use(3), std::nullopt);
  EXPECT_EQ(c.use(7), 3u);
  EXPECT_EQ(c.use(8), 4u);
  EXPECT_EQ(c.use(9), 5u);
}

TEST(TagStore, SrripReplacesTheFirstLineOfTheDistantFuture) {
  Cache c(Replacement::kSrrip);
  c.use_all({1, 2, 3, 4, 1});  // predictions 0 2 2 2
  EXPECT_EQ(c.use(5), 2u);     // all grow by 1: 1 3 3 3, and 5 has 2: 1 2 3 3
  EXPECT_EQ(c.use(6), 3u);     // 1 2 2 3
  c.use_all({4});              // 1 2 2 0
  EXPECT_EQ(c.use(7), 5u);     // by 1: 2 3 3 1, 7 has 2: 2 2 3 1
  EXPECT_EQ(c.use(8), 6u);     // 2 2 2 1
  EXPECT_EQ(c.use(9), 1u);     // by 1: 3 3 3 2, 9 has 2: 2 3 3 2
  EXPECT_TRUE(c.holds(4));
  EXPECT_EQ(c.use(10), 7u);
}

TEST(TagStore, SrripKeepsUsedLinesUnderAScan) {
  Cache srrip(Replacement::kSrrip), lru(Replacement::kLru);
  for (Cache* c : {&srrip, &lru}) {
    c->use_all({1, 2, 1, 2});
    for (LineAddr line = 10; line < 14; ++line) c->use(line);
  }
  EXPECT_TRUE(srrip.holds(1) && srrip.holds(2));
  EXPECT_FALSE(lru.holds(1) || lru.holds(2));
}

TEST(TagStore, SrripLetsWaitingLinesStayHoweverDistant) {
  Cache c(Replacement::kSrrip);
  c.use_all({1, 2, 3, 4, 3});       // 2 2 0 2
  EXPECT_EQ(c.use(5, 0b1011), 3u);  // that of way 2 grows by 3, others to 3: 3 3 2 3
  EXPECT_EQ(c.use(6, 0b0001), 2u);
  EXPECT_EQ(c.use(7), 1u);
}

TEST(TagStore, RandomDrawsEachWayAboutAsOften) {
  for (const uint32_t ways : {4u, 5u, 16u}) {
    Cache c(Replacement::kRandom, ways);
    std::vector<uint32_t> drawn(ways);
    for (LineAddr line = 0; line < ways; ++line) c.use(line);
    for (LineAddr line = ways; line < ways + 1000 * ways; ++line) {
      ++drawn[c.choose(line)];
      c.use(line);
    }
    for (const uint32_t n : drawn) {
      EXPECT_GT(n, 880u) << ways;  // 1000 less four standard deviations
      EXPECT_LT(n, 1120u) << ways;
    }
  }
}

TEST(TagStore, RandomIsTheSameInEveryRunAndNotInEverySet) {
  const auto drawn = [](uint32_t set) {
    Cache c(Replacement::kRandom, 4, 1);
    for (LineAddr i = 0; i < 8; ++i) c.use(i);
    std::vector<uint32_t> ways;
    for (LineAddr i = 4; i < 36; ++i) {
      ways.push_back(c.choose(2 * i + set));
      c.use(2 * i + set);
    }
    return ways;
  };
  EXPECT_EQ(drawn(0), drawn(0));
  EXPECT_NE(drawn(0), drawn(1));
}

TEST(TagStore, EmptyWaysComeFirstTheLowestBeforeOthers) {
  for (const Replacement r : kAll) {
    for (const uint32_t ways : {3u, 4u, 8u, 16u}) {
      Cache c(r, ways);
      for (LineAddr line = 0; line < ways; ++line) {
        EXPECT_EQ(c.choose(line), line);
        c.use(line);
      }
      c.drop(2);
      c.drop(1);
      EXPECT_EQ(c.choose(50), 1u);
      EXPECT_EQ(c.use(50), std::nullopt);
      EXPECT_EQ(c.choose(51, 0b1), 2u);
    }
  }
}

TEST(TagStore, WaysThatWaitKeepTheirLines) {
  for (const Replacement r : kAll) {
    for (const uint32_t ways : {2u, 4u, 8u, 16u, 24u}) {
      Cache c(r, ways);
      for (LineAddr line = 0; line < ways; ++line) c.use(line);
      const uint64_t all = low_bits(ways);
      for (uint32_t idle = 0; idle < ways; ++idle)
        EXPECT_EQ(c.choose(50, all & ~(uint64_t{1} << idle)), idle);
      EXPECT_EQ(c.choose(50, all), kNoLane);
    }
  }
}

TEST(TagStore, AskingForAVictimChangesNothing) {
  for (const Replacement r : kAll) {
    Cache c(r, 8);
    for (LineAddr line = 0; line < 8; ++line) c.use(line);
    const uint32_t first = c.choose(50);
    for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(c.choose(51 + i), first);
  }
}

TEST(TagStore, SetsDoNotMix) {
  for (const Replacement r : kAll) {
    Cache c(r, 4, 1);
    for (LineAddr line = 1; line < 9; line += 2) c.use(line);
    for (LineAddr line = 0; line < 200; line += 2) c.use(line);
    for (LineAddr line = 1; line < 9; line += 2) EXPECT_TRUE(c.holds(line));
  }
}

TEST(TagStore, NumbersOfUsesBeginAnew) {
  for (const Replacement r : {Replacement::kLru, Replacement::kFifo}) {
    Cache c(r);
    c.s.uses = 0xfffffffdu;
    c.use_all({1, 2, 3, 4});
    EXPECT_LT(c.s.uses, 4u);
    EXPECT_EQ(c.use(5), 1u);
    EXPECT_EQ(c.use(6), 2u);
    EXPECT_EQ(c.use(7), 3u);
    EXPECT_EQ(c.use(8), 4u);
  }
}

/// The simplest implementation of LRU or FIFO: a list of lines by age.
class ByAge {
 public:
  ByAge(uint32_t ways, bool renews) : ways_(ways), renews_(renews) {}
  std::optional<LineAddr> use(LineAddr line, const std::vector<LineAddr>& waiting) {
    const auto at = std::find(lines_.begin(), lines_.end(), line);
    if (at != lines_.end()) {
      if (renews_) std::rotate(at, at + 1, lines_.end());
      return {};
    }
    std::optional<LineAddr> gone;
    if (lines_.size() == ways_) {
      const auto oldest = std::find_if(lines_.begin(), lines_.end(), [&](LineAddr l) {
        return std::find(waiting.begin(), waiting.end(), l) == waiting.end();
      });
      gone = *oldest;
      lines_.erase(oldest);
    }
    lines_.push_back(line);
    return gone;
  }

 private:
  uint32_t ways_;
  bool renews_;
  std::vector<LineAddr> lines_;  // the oldest first
};

TEST(TagStore, AnyNumberOfWaysReplacesAsAListByAgeDoes) {
  std::mt19937 random(7);
  for (const Replacement r : {Replacement::kLru, Replacement::kFifo}) {
    for (const uint32_t ways : {1u, 2u, 3u, 4u, 5u, 8u, 12u, 16u, 24u, 32u, 64u}) {
      Cache c(r, ways);
      ByAge list(ways, r == Replacement::kLru);
      c.s.uses = 0u - 1000;  // the counter overflows during the test
      for (uint32_t i = 0; i < 2000; ++i) {
        uint64_t waiting = 0;
        std::vector<LineAddr> lines;
        for (uint32_t w = 0; w + 1 < ways; ++w) {
          if (random() % 3 != 0 || c.arena.get(c.s.tags)[w] == kNoLine) continue;
          waiting |= uint64_t{1} << w;
          lines.push_back(c.arena.get(c.s.tags)[w]);
        }
        const LineAddr line = random() % (2 * ways);
        ASSERT_EQ(c.use(line, waiting), list.use(line, lines)) << ways << " ways, use " << i;
      }
    }
  }
}

TEST(TagStore, FindsALineInSetsOfAnyNumberOfWays) {
  for (const uint32_t ways : {1u, 3u, 4u, 8u, 16u, 20u, 64u, 100u, 1024u}) {
    std::vector<LineAddr> tags(ways, kNoLine);
    EXPECT_EQ(find(ways, tags.data(), 7), kNoLane);
    for (const uint32_t w : {0u, ways / 2, ways - 1}) {
      tags.assign(ways, 6);
      tags[w] = 7;
      EXPECT_EQ(find(ways, tags.data(), 7), w);
      if (ways > 64) continue;
      EXPECT_EQ(match(ways, tags.data(), 7), uint64_t{1} << w);
    }
  }
}

}  // namespace
}  // namespace nearwarp::cache::tag_store_test
