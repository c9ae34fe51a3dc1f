// Is each launch of a stratum chosen as often as any other?
#include "host/recording/sample_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace nearwarp::runtime {
namespace {

constexpr uint64_t kSeeds = 4000;

/// One stratum of launches, of which each is simulated by itself and none repeats another.
class Program {
 public:
  explicit Program(uint32_t launches) : units_(launches), strata_(1), alike_(launches) {
    std::iota(alike_.begin(), alike_.end(), 0u);
    for (uint32_t i = 0; i < launches; ++i) {
      units_[i].first = units_[i].begin = i;
      units_[i].end = i + 1;
      strata_[0].members.push_back(i);
    }
  }
  Members choice(uint64_t n, uint64_t seed) const {
    Members chosen = SampleChoice(units_, strata_, alike_, 0, seed).of({n})[0];
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  std::vector<Unit> units_;
  std::vector<Stratum> strata_;
  std::vector<uint32_t> alike_;
};

/// The error of the sum of all cycles if each chosen launch stands for equally many, over seeds.
struct Off {
  double mean = 0, deviation = 0;
};

Off off(const std::vector<double>& cycles, uint64_t n) {
  const Program program(static_cast<uint32_t>(cycles.size()));
  const double all = std::accumulate(cycles.begin(), cycles.end(), 0.0);
  double sum = 0, squares = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    double chosen = 0;
    for (const uint32_t unit : program.choice(n, seed)) chosen += cycles[unit];
    const double one =
        chosen * static_cast<double>(cycles.size()) / static_cast<double>(n) / all - 1;
    sum += one;
    squares += one * one;
  }
  return {sum / kSeeds, std::sqrt(squares / kSeeds)};
}

const std::pair<uint32_t, uint64_t> kNumbers[] = {{3, 2},  {5, 2},   {7, 3},    {7, 6},
                                                  {31, 4}, {31, 12}, {127, 10}, {127, 60}};

TEST(SampleChoice, HalvesThatDifferAreNotOffInTheMean) {
  for (const auto& [count, n] : kNumbers)
    for (const uint32_t first : {count / 2, (count + 1) / 2}) {
      std::vector<double> cycles(count, 13'000);
      std::fill(cycles.begin() + first, cycles.end(), 10'000);
      const Off found = off(cycles, n);
      EXPECT_LT(std::abs(found.mean), 3 * found.deviation / std::sqrt(kSeeds))
          << n << " of " << count << ", " << first << " in the first half";
    }
}

TEST(SampleChoice, EachIsChosenAsOftenAsAnyOtherAndOnceAtMost) {
  for (const auto& [count, n] : kNumbers) {
    SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(count));
    const Program program(count);
    std::vector<uint64_t> times(count, 0);
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Members chosen = program.choice(n, seed);
      ASSERT_EQ(chosen.size(), n);
      ASSERT_TRUE(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
      for (const uint32_t unit : chosen) times[unit] += 1;
    }
    const double share = static_cast<double>(n) / count;
    const double chance = 4 * std::sqrt(share * (1 - share) * kSeeds);
    for (const uint64_t t : times) EXPECT_NEAR(static_cast<double>(t), share * kSeeds, chance);
  }
}

TEST(SampleChoice, IsSpreadOverTheProgram) {
  // Cycles grow from launch to launch. 10 of 127 chosen without order would be off by 4.7 % (their
  // deviation is 16 %).
  std::vector<double> cycles(127);
  std::iota(cycles.begin(), cycles.end(), 160.0);
  EXPECT_LT(off(cycles, 10).deviation, 0.01);
  EXPECT_LT(off(cycles, 60).deviation, 0.001);
}

TEST(SampleChoice, AllAreThemselves) {
  EXPECT_EQ(Program(3).choice(3, 5), (Members{0, 1, 2}));
  EXPECT_EQ(Program(1).choice(1, 5), (Members{0}));
}

}  // namespace
}  // namespace nearwarp::runtime
