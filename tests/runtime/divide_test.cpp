// How are programs divided into parts: evenly, with little that is simulated twice?
#include "host/recording/divide.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nearwarp::runtime {
namespace {

constexpr uint64_t kMillion = 1'000'000;

/// Launches of so many million warp-instructions, each after all before: what is made for a part is
/// little beside.
Recording in_order(const std::vector<uint64_t>& work) {
  Recording r;
  for (const uint64_t w : work) r.launches.emplace_back().warp_instructions = w * kMillion;
  return r;
}

void after(Recording& r, uint32_t launch, std::vector<uint32_t> before) {
  r.launches[launch].after_all = false;
  r.launches[launch].after = std::move(before);
}

using Cuts = std::vector<bool>;

/// Parts follow each other, cover all, and begin where they may.
void expect_whole(const std::vector<LaunchPart>& parts, const Recording& r, uint32_t before) {
  const Cuts cuts = launch_cuts(r);
  uint32_t at = 0;
  for (const LaunchPart& p : parts) {
    EXPECT_EQ(p.first, at);
    EXPECT_GT(p.end, p.first);
    EXPECT_TRUE(cuts[p.first]);
    EXPECT_EQ(p, part_of(cuts, p.first, p.end, before));
    at = p.end;
  }
  EXPECT_EQ(at, r.launches.size());
}

uint64_t most_work(const std::vector<LaunchPart>& parts, const Recording& r) {
  uint64_t most = 0;
  for (const LaunchPart& p : parts) {
    uint64_t work = 0;
    for (uint32_t i = p.begin; i < p.end; ++i) work += r.launches[i].warp_instructions / kMillion;
    most = std::max(most, work);
  }
  return most;
}

TEST(LaunchPart, DivideBalancesWhatIsSimulated) {
  const Recording r = in_order(std::vector<uint64_t>(12, 10));
  for (const uint32_t n : {1u, 2u, 3u, 4u}) {
    const std::vector<LaunchPart> parts = divide(r, n, 2);
    EXPECT_EQ(parts.size(), n);
    expect_whole(parts, r, 2);
  }
  EXPECT_EQ(most_work(divide(r, 1, 2), r), 120u);
  EXPECT_EQ(most_work(divide(r, 2, 2), r), 70u);  // 7, and 5 after 2
  EXPECT_EQ(most_work(divide(r, 2, 0), r), 60u);
  EXPECT_EQ(most_work(divide(r, 3, 2), r), 60u);  // 6, and 3 after 2 twice, or so
  EXPECT_EQ(divide(in_order({}), 4, 2).size(), 0u);
}

TEST(LaunchPart, DivideLeavesTheFirstLaunchesTogether) {
  const Recording r = in_order(std::vector<uint64_t>(12, 10));
  for (const uint32_t together : {1u, 4u, 7u, 12u, 20u}) {
    const std::vector<LaunchPart> parts = divide(r, 6, 2, together);
    EXPECT_GE(parts[0].end, std::min(together, 12u));
    for (size_t i = 1; i < parts.size(); ++i) {
      EXPECT_EQ(parts[i].first, parts[i - 1].end);
      EXPECT_EQ(parts[i].begin, parts[i].first - 2) << "those before it may be among them";
    }
    EXPECT_EQ(parts.back().end, 12u);
  }
}

TEST(LaunchPart, DivideBySizeNotByNumber) {
  const Recording r = in_order({100, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<LaunchPart> parts = divide(r, 2, 0);
  EXPECT_EQ(parts, (std::vector<LaunchPart>{{0, 0, 1}, {1, 1, 8}}));
}

TEST(LaunchPart, DivideKeepsTogetherWhatRunsTogether) {
  Recording r = in_order(std::vector<uint64_t>(9, 10));
  for (const uint32_t i : {3u, 4u, 5u}) after(r, i, {2});
  for (uint32_t n = 1; n < 9; ++n) expect_whole(divide(r, n, 1), r, 1);
  EXPECT_LE(divide(r, 100, 0).size(), 7u);
}

uint64_t twice(const std::vector<LaunchPart>& parts, const Recording& r) {
  uint64_t sum = 0;
  for (const LaunchPart& p : parts) sum += instructions_of(r, p);
  return sum - r.warp_instructions;
}

TEST(LaunchPart, DivideBeginsPartsAfterSmallLaunchesWhereThatCostsNothing) {
  // The larger part has 91 after the launch of 41 as well as after that of 1.
  Recording r = in_order({40, 9, 41, 1, 38, 11});
  r.warp_instructions = 140 * kMillion;
  const std::vector<LaunchPart> parts = divide(r, 2, 1);
  expect_whole(parts, r, 1);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].first, 4u);
  EXPECT_EQ(twice(parts, r), kMillion);
  // Nearly as even, 52 instead of 51, with half of it before.
  Recording nearly = in_order({48, 1, 2, 49});
  nearly.warp_instructions = 100 * kMillion;
  EXPECT_EQ(divide(nearly, 2, 1).at(1).first, 2u);
  EXPECT_EQ(twice(divide(nearly, 2, 1), nearly), kMillion);
}

/// The time of parts on so many cores, in million warp-instructions, each on the first that is
/// free; those for which none is left share in the others, n of them being as fast as 5n/(n + 4).
double time_on(uint32_t cores, const std::vector<LaunchPart>& parts, const Recording& r) {
  std::vector<uint64_t> free_at(cores, 0);
  for (const LaunchPart& p : parts) *std::ranges::min_element(free_at) += most_work({p}, r);
  std::ranges::sort(free_at);
  double end = static_cast<double>(free_at[0]);
  for (uint32_t done = 1; done < cores; ++done) {
    const double threads = cores / (cores - done);
    end += static_cast<double>(free_at[done] - free_at[done - 1]) * (threads + 4) / (5 * threads);
  }
  return end;
}

TEST(LaunchPart, WithoutANumberTwoCoresAreDoneAsEarlyAsCanBe) {
  struct Case {
    std::vector<uint64_t> work;
    uint32_t before;
    double time;
    size_t parts;
  };
  const Case cases[] = {
      {{30, 40, 30}, 0, 52, 3},  // the outer ones on one core, the other one helps for 20
      {{20, 60, 20}, 0, 52, 3},
      {{10, 10, 30, 10, 30, 10}, 0, 50, 2},
      {{1, 24, 1, 49, 1, 24}, 1, 51, 3},  // parts begin after small launches
      {{100}, 0, 60, 1},
  };
  for (const Case& c : cases) {
    const Recording r = in_order(c.work);
    const std::vector<LaunchPart> parts = divide(r, 0, c.before);
    expect_whole(parts, r, c.before);
    EXPECT_NEAR(time_on(2, parts, r), c.time, 1e-9) << ::testing::PrintToString(c.work);
    EXPECT_EQ(parts.size(), c.parts) << ::testing::PrintToString(c.work);
  }
}

TEST(LaunchPart, WithoutANumberNoThreePartsAreBetter) {
  uint64_t random = 1;
  for (uint32_t tried = 0; tried < 20; ++tried) {
    std::vector<uint64_t> work;
    for (uint32_t i = 0; i < 9; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      work.push_back(10 + (random >> 33) % (i % 3 == 0 ? 400 : 40));
    }
    const Recording r = in_order(work);
    const Cuts cuts = launch_cuts(r);
    const auto costs = [&](const std::vector<LaunchPart>& parts) {
      uint64_t all = 0, sum = 0;
      for (const LaunchPart& p : parts) sum += most_work({p}, r);
      for (const uint64_t w : work) all += w;
      return time_on(2, parts, r) + static_cast<double>(sum - all) / 8;
    };
    double least = 1e9;
    for (uint32_t a = 1; a < 9; ++a)
      for (uint32_t b = a + 1; b < 10; ++b) {
        std::vector<LaunchPart> parts = {part_of(cuts, 0, a, 1), part_of(cuts, a, b, 1)};
        if (b != 9) parts.push_back(part_of(cuts, b, 9, 1));
        if (b == 9) parts[1].end = 9;
        least = std::min(least, costs(parts));
      }
    const std::vector<LaunchPart> parts = divide(r, 0, 1);
    expect_whole(parts, r, 1);
    EXPECT_LE(costs(parts), least + 1) << ::testing::PrintToString(work);
  }
}

TEST(LaunchPart, DivideForSoManyCores) {
  const Recording r = in_order(std::vector<uint64_t>(160, 10));
  EXPECT_EQ(divide(r, 0, 1, 0, 1).size(), 1u);
  for (const uint32_t cores : {2u, 3u, 8u, 16u}) {
    const std::vector<LaunchPart> parts = divide(r, 0, 1, 0, cores);
    expect_whole(parts, r, 1);
    EXPECT_GE(parts.size(), cores);
    EXPECT_LE(time_on(cores, parts, r), 1600 / cores + 21) << cores;
  }
}

TEST(LaunchPart, DivideTakesNoLongerForMorePartsThanThereCanBe) {
  // By parts rather than cuts it would take gigabytes.
  const Recording r = in_order(std::vector<uint64_t>(500, 10));
  const std::vector<LaunchPart> parts = divide(r, 1u << 20, 1);
  expect_whole(parts, r, 1);
  EXPECT_EQ(parts, divide(r, 500, 1));
}

TEST(LaunchPart, DivideOfManyLaunchesIsNearlyEven) {
  const Recording r = in_order(std::vector<uint64_t>(5000, 1));
  const std::vector<LaunchPart> parts = divide(r, 8, 1);
  expect_whole(parts, r, 1);
  EXPECT_LE(most_work(parts, r), 5000u / 8 * 103 / 100 + 12);
}

}  // namespace
}  // namespace nearwarp::runtime
