// Do intervals of samples hold as often as they say, and follow the launches that were simulated?
#include "host/timing/report/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "host/core/student.h"

namespace nearwarp::report {
namespace {

TEST(Student, KnownValues) {
  EXPECT_NEAR(student_95(3), 3.182, 0.005);
  EXPECT_NEAR(student_95(5), 2.571, 0.001);
  EXPECT_NEAR(student_95(10), 2.228, 0.001);
  EXPECT_NEAR(student_95(1e9), 1.960, 0.001);
}

/// A stratum of `units`, of which those with these cycles are simulated.
SampleReport sample_of(uint64_t units, const std::vector<uint64_t>& cycles, double spread) {
  SampleReport s;
  s.strata.push_back({"k", 0, false, units, cycles.size(), spread});
  for (const uint64_t c : cycles) {
    const auto at = static_cast<uint64_t>(s.parts.size()) + 1;
    s.parts.push_back(
        {at, at, 0, static_cast<double>(units) / static_cast<double>(cycles.size()), 1.0, c});
  }
  return s;
}

TEST(Sample, WithoutExpectationItIsTheTextbooksInterval) {
  // Four of 100: mean 100, deviation 10. 100 * sqrt(1/4 - 1/100) * 10 over 100 * 100.
  const SampleReport s = sample_of(100, {90, 90, 110, 110}, 0.05);
  const double deviation = std::sqrt(4 * 100.0 / 3);
  EXPECT_NEAR(cycles_error(s), student_95(3) * std::sqrt(0.24) * deviation / 100, 1e-9);
}

TEST(Sample, AnExpectationCountsAsSomeUnits) {
  SampleReport s = sample_of(100, {100, 100, 100, 100}, 0.05);
  EXPECT_EQ(cycles_error(s), 0);  // as if nothing else could be
  s.expectation = 2;
  // Two of five degrees have a deviation of 5, the others none.
  EXPECT_NEAR(cycles_error(s), student_95(5) * std::sqrt(0.24 * 25 * 2 / 5) / 100, 1e-9);
  s.start_error = 0.01;
  EXPECT_NEAR(cycles_error(s), std::hypot(0.01, student_95(5) * std::sqrt(0.24 * 25 * 2 / 5) / 100),
              1e-9);
}

TEST(Sample, WhereRareTimesMayBeMissingAgreementIsNoEvidence) {
  SampleReport s = sample_of(100, {100, 100, 100, 100}, 0.05);
  s.expectation = 2;
  s.by_load = true;
  EXPECT_NEAR(cycles_error(s), student_95(5) * std::sqrt(0.24 * 25) / 100, 1e-9);
  const nlohmann::ordered_json launches = {{"sample", sample_json(s)}};
  EXPECT_EQ(cycles_error(*report::sample_of(launches)), cycles_error(s));
  // Launches that spread more than expected say so, as elsewhere.
  SampleReport more = sample_of(100, {50, 50, 150, 150}, 0.05), usual = more;
  more.by_load = true;
  EXPECT_EQ(cycles_error(more), cycles_error(usual));
}

TEST(Sample, WhatIsSimulatedWholeIsKnown) {
  SampleReport s = sample_of(2, {90, 110}, 0.05);
  s.expectation = 2;
  EXPECT_EQ(cycles_error(s), 0);
  for (SampledLaunches& p : s.parts) p.stratum = SampledLaunches::kItself;
  EXPECT_EQ(cycles_error(s), 0);
}

TEST(Sample, ARatioIsSurerThanItsParts) {
  // One policy is twice as fast in every launch, however much these differ.
  const SampleReport a = sample_of(50, {100, 300, 500}, 0.05),
                     b = sample_of(50, {50, 150, 250}, 0.05);
  EXPECT_GT(cycles_error(a), 0.5);
  EXPECT_NEAR(*ratio_error(&a, &b), 0, 1e-9);
  EXPECT_EQ(*ratio_error(&a, nullptr), cycles_error(a));
  EXPECT_EQ(*ratio_error(nullptr, &b), cycles_error(b));
  EXPECT_EQ(*ratio_error(nullptr, nullptr), 0);
  const SampleReport other = sample_of(50, {100, 300}, 0.05);
  EXPECT_FALSE(ratio_error(&a, &other).has_value());
}

/// 200 launches of a kernel in two strata. Their cycles follow their sizes, with noise; under
/// another policy they take as long, with other noise.
struct Population {
  std::mt19937 random;
  std::vector<double> size, cycles, other;
  explicit Population(uint32_t seed, double noise) : random(seed) {
    std::normal_distribution<double> normal;
    for (int i = 0; i < 200; ++i) {
      size.push_back(i < 120 ? 900 + i : 3000 + 10 * (i - 120));
      cycles.push_back((500 + 2 * size.back()) * (1 + noise * normal(random)));
      other.push_back(cycles.back() * (0.8 + 0.5 * noise * normal(random)));
    }
  }
};

TEST(Sample, IntervalsHoldAsOftenAsTheySay) {
  for (const double noise : {0.01, 0.05, 0.2}) {
    int held = 0, ratio_held = 0;
    constexpr int kTimes = 1000;
    for (int t = 0; t < kTimes; ++t) {
      Population p(static_cast<uint32_t>(t) + 1, noise);
      SampleReport a;
      a.expectation = 2;
      const uint64_t sampled[] = {6, 5}, units[] = {120, 80};
      double missing = 0, moment = 0;
      std::vector<double> from_mean, shares;
      std::vector<size_t> chosen;
      for (uint32_t h = 0; h < 2; ++h) {
        a.strata.push_back({"k", 0, true, units[h], sampled[h], 0.05});
        std::vector<size_t> all(units[h]);
        for (size_t i = 0; i < all.size(); ++i) all[i] = i + (h == 0 ? 0 : 120);
        double sum = 0, mean = 0;
        for (const size_t i : all) sum += p.size[i];
        std::shuffle(all.begin(), all.end(), p.random);
        const auto n = static_cast<double>(sampled[h]), of = static_cast<double>(units[h]);
        for (size_t i = 0; i < sampled[h]; ++i) mean += p.size[all[i]] / n;
        missing += sum - of * mean;
        const double share = of * of * (1 / n - 1 / of) / (n - 1);
        for (size_t i = 0; i < sampled[h]; ++i) {
          chosen.push_back(all[i]);
          from_mean.push_back(p.size[all[i]] - mean);
          shares.push_back(share);
          moment += share * from_mean.back() * from_mean.back();
          a.parts.push_back({all[i] + 1, all[i] + 1, h, of / n, p.size[all[i]],
                             static_cast<uint64_t>(p.cycles[all[i]])});
        }
      }
      SampleReport b = a;
      double estimate = 0, estimate_b = 0, sum = 0, sum_b = 0;
      for (size_t i = 0; i < chosen.size(); ++i) {
        a.parts[i].weight += missing / moment * shares[i] * from_mean[i];
        b.parts[i].weight = a.parts[i].weight;
        b.parts[i].cycles = static_cast<uint64_t>(p.other[chosen[i]]);
        estimate += a.parts[i].weight * static_cast<double>(a.parts[i].cycles);
        estimate_b += b.parts[i].weight * static_cast<double>(b.parts[i].cycles);
      }
      for (size_t i = 0; i < p.cycles.size(); ++i) {
        sum += p.cycles[i];
        sum_b += p.other[i];
      }
      held += std::abs(estimate - sum) <= cycles_error(a) * estimate;
      const double ratio = estimate / estimate_b;
      ratio_held += std::abs(ratio - sum / sum_b) <= *ratio_error(&a, &b) * ratio;
    }
    // 950 of 1000 are expected, within 3 standard deviations; more if noise is below what is
    // assumed.
    EXPECT_GE(held, 929) << noise;
    EXPECT_GE(ratio_held, 929) << noise;
    if (noise > 0.1) {
      EXPECT_LE(held, 985) << noise;
    }
  }
}

TEST(Sample, JsonHasAllOfIt) {
  SampleReport s = sample_of(50, {100, 300, 500}, 0.05);
  s.error = 0.02;
  s.units = 51;
  s.launches = 4;
  s.simulated = 0.25;
  s.expectation = 2;
  s.start_error = 0.01;
  s.parts.push_back({51, 51, SampledLaunches::kItself, 1, 7, 1000});
  const auto json = nlohmann::ordered_json{{"sample", sample_json(s)}};
  const std::optional<SampleReport> back = report::sample_of(json);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(sample_json(*back), sample_json(s));
  EXPECT_EQ(json["sample"]["error"], cycles_error(s));
  EXPECT_FALSE(report::sample_of(nlohmann::ordered_json::object()).has_value());
}

}  // namespace
}  // namespace nearwarp::report
