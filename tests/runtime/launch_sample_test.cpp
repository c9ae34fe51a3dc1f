// Do features tell what traces have, and do samples stand for all launches?
#include "host/recording/launch_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "bench/workloads/workload.h"
#include "host/recording/division.h"
#include "host/recording/launch_costs.h"
#include "host/recording/launch_features.h"
#include "host/recording/record_lines.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {
namespace {

Recording record(const char* name, workloads::Size size = workloads::Size::kSmall) {
  VirtualDevice device;
  workloads::find(name)->run(device, size);
  return device.take_recording(name);
}

/// Lines and sectors lane by lane.
std::vector<std::pair<uint64_t, uint32_t>> lines_by_lane(const uint64_t* words, uint32_t lanes,
                                                         uint32_t shift) {
  uint64_t address[32] = {};
  trace::read_record(words, ~uint64_t{0}, lanes, address);
  std::vector<std::pair<uint64_t, uint32_t>> lines;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const uint64_t a = address[lane];
    if ((a & trace::kSharedWindow) != 0 || a < exec::kDeviceBase) continue;
    const uint64_t offset = a - exec::kDeviceBase;
    if (lines.empty() || lines.back().first != offset >> shift)
      lines.emplace_back(offset >> shift, 0);
    lines.back().second |= 1u << (offset >> 5 & ((1u << (shift - 5)) - 1));
  }
  return lines;
}

TEST(RecordLines, AreThoseOfEveryLane) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const int strides[] = {0, 1, 2, 4, 8, 16, 31, 32, 33, 64, 128, 132, 4096, -4, -128};
    uint64_t base = exec::kDeviceBase + random() % 100'000;
    if (i % 50 == 0) base = trace::kSharedWindow + random() % 1000;  // shared memory
    if (i % 51 == 0) base = random() % 5000;                         // nor this
    if (i % 53 == 0) base = exec::kDeviceBase - random() % 500;      // partly
    const uint64_t words[1] = {trace::memory_record(base, strides[random() % 15])};
    auto lanes = static_cast<uint32_t>(random());
    if (i % 3 == 0) lanes = ~0u;
    if (i % 3 == 1) lanes = (~0u >> random() % 32) << random() % 32;
    if (lanes == 0) continue;
    for (const uint32_t shift : {5u, 6u, 7u, 8u}) {
      std::vector<std::pair<uint64_t, uint32_t>> lines;
      each_line(words, lanes, shift,
                [&](uint64_t line, uint32_t sectors) { lines.emplace_back(line, sectors); });
      ASSERT_EQ(lines, lines_by_lane(words, lanes, shift)) << i << " " << shift;
    }
  }
}

TEST(LaunchCosts, FollowFromInstructionsAndTransactions) {
  for (const char* name : {"kmeans", "bfs-rmat", "fwt"}) {
    SCOPED_TRACE(name);
    const Recording r = record(name);
    const std::vector<LaunchFeatures> features = launch_features(r);
    const std::vector<uint64_t> costs = launch_costs(r);
    ASSERT_EQ(costs.size(), features.size());
    double found = 0, expected = 0;
    for (size_t i = 0; i < costs.size(); ++i) {
      EXPECT_GE(costs[i], features[i].warp_instructions);
      found += static_cast<double>(costs[i] - features[i].warp_instructions);
      expected += 1.5 * static_cast<double>(features[i].transactions);
    }
    EXPECT_NEAR(found / expected, 1, 0.2) << "some thread blocks stand for all";
  }
}

TEST(LaunchFeatures, AreThoseOfTheTraces) {
  for (const char* name : {"kmeans", "bfs-rmat", "fdtd", "reduction-original"}) {
    SCOPED_TRACE(name);
    const Recording r = record(name);
    const std::vector<LaunchFeatures> features = launch_features(r);
    ASSERT_EQ(features.size(), r.launches.size());
    std::map<uint64_t, uint64_t>
        last;  // lines used so far when the launch of a line's last use began
    uint64_t used = 0;
    for (uint32_t i = 0; i < r.launches.size(); ++i) {
      const compiler::Kernel& kernel = *r.kernels[r.launches[i].kernel];
      std::set<uint64_t> lines;
      uint64_t transactions = 0, sectors = 0;
      TraceVisitor visitor;
      visitor.access = [&](const MemoryAccess& a) {
        const ptx::Space space = kernel.instructions[a.instruction].mod.space;
        if (space == ptx::Space::kShared || space == ptx::Space::kConst ||
            space == ptx::Space::kParam)
          return;
        uint64_t before = ~uint64_t{0};
        std::set<uint64_t> of_line;  // sectors of lanes in a row on one line
        for (uint32_t lane = 0; lane < 32; ++lane) {
          if ((a.mask >> lane & 1) == 0 || a.address[lane] < exec::kDeviceBase ||
              (a.address[lane] & trace::kSharedWindow) != 0)
            continue;
          const uint64_t line = (a.address[lane] - exec::kDeviceBase) >> kFeatureLineShift;
          if (line != before) {
            transactions += 1;
            of_line.clear();
          }
          sectors += of_line.insert(a.address[lane] / 32).second ? 1 : 0;
          before = line;
          lines.insert(line);
        }
      };
      replay(r, i, visitor);
      uint64_t fresh = 0;
      for (const uint64_t line : lines) {
        const auto at = last.find(line);
        fresh += at == last.end() || used - at->second > kFreshAfterLines ? 1 : 0;
        last[line] = used;
      }
      used += lines.size();
      EXPECT_EQ(features[i].transactions, transactions);
      EXPECT_EQ(features[i].sectors, sectors);
      EXPECT_EQ(features[i].lines, lines.size());
      EXPECT_EQ(features[i].fresh_lines, fresh);
      EXPECT_EQ(features[i].warp_instructions, r.launches[i].warp_instructions);
      EXPECT_EQ(features[i].thread_blocks, r.launches[i].blocks_recorded);
    }
    EXPECT_GT(features[0].fresh_lines, 0u);
  }
}

/// A program that is run so many times.
Recording repeated(const char* name, uint32_t times) {
  Recording r = record(name);
  const std::vector<LaunchRecord> once = r.launches;
  for (uint32_t i = 1; i < times; ++i)
    r.launches.insert(r.launches.end(), once.begin(), once.end());
  r.warp_instructions *= times;
  r.thread_instructions *= times;
  return r;
}

void expect_each_launch_once(const Recording& r) {
  for (const double error : {0.02, 0.05, 0.1, 0.3}) {
    const Division d = sample_launches(r, error, 2);
    if (!d.sample.has_value()) {
      EXPECT_LE(error, 0.02);
      continue;
    }
    const LaunchSample& s = *d.sample;
    EXPECT_LE(s.simulated, 0.5);
    double units = 0, work = 0;
    std::vector<uint64_t> sampled(s.strata.size(), 0);
    std::vector<LaunchRange> pieces;
    for (size_t i = 0; i < d.parts.size(); ++i) {
      const LaunchPart& p = d.parts[i];
      if (i != 0) {
        EXPECT_GT(p.begin + 2, d.parts[i - 1].end);
      }
      EXPECT_EQ(p.begin, p.first - std::min(p.first, 2u));
      for (uint32_t k = p.begin; k < p.end; ++k)
        work += static_cast<double>(r.launches[k].warp_instructions);
      if (p.pieces.empty()) pieces.push_back({p.first, p.end});
      for (const LaunchRange& piece : p.pieces) pieces.push_back(piece);
      if (p.pieces.empty()) continue;
      EXPECT_EQ(p.pieces.front().first, p.first);
      EXPECT_EQ(p.pieces.back().end, p.end);
    }
    ASSERT_EQ(s.parts.size(), pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      const LaunchRange& p = pieces[i];
      if (i != 0) {
        EXPECT_GE(p.first, pieces[i - 1].end);
      }
      const SampleUnit& u = s.parts[i];
      EXPECT_GT(u.weight, 0.4);
      if (u.stratum == SampleUnit::kItself) {
        EXPECT_EQ(u.weight, 1);
        units += p.end - p.first;
      } else {
        sampled[u.stratum] += 1;
        units += u.weight;
      }
    }
    EXPECT_NEAR(units, static_cast<double>(r.launches.size()), 1e-6);
    EXPECT_EQ(s.units, r.launches.size());
    EXPECT_NEAR(s.simulated, work / static_cast<double>(r.warp_instructions), 1e-9);
    for (size_t h = 0; h < s.strata.size(); ++h) {
      EXPECT_EQ(s.strata[h].sampled, sampled[h]);
      EXPECT_GE(sampled[h], 2u);
      EXPECT_LT(sampled[h], s.strata[h].units);
    }
  }
}

TEST(LaunchSample, StandsForEveryLaunchOnce) {
  expect_each_launch_once(record("gaussian"));
  expect_each_launch_once(repeated("kmeans", 20));
  expect_each_launch_once(repeated("fdtd", 50));
}

TEST(LaunchSample, IsTheSameEachTimeAndLargerForASmallerError) {
  uint64_t launches = ~uint64_t{0};
  for (const double error : {0.05, 0.1, 0.3}) {
    const Division a = sample_launches(record("gaussian"), error, 2),
                   b = sample_launches(record("gaussian"), error, 2);
    EXPECT_EQ(a.parts, b.parts);
    EXPECT_LT(a.sample->launches, launches);
    launches = a.sample->launches;
  }
}

/// A sample's estimate of all launches' cycles, relative to their true sum.
double estimated(const Division& d, const std::vector<double>& cycles) {
  double all = 0, sum = 0;
  for (const double c : cycles) all += c;
  size_t at = 0;
  for (const LaunchPart& p : d.parts) {
    std::vector<LaunchRange> pieces = p.pieces;
    if (pieces.empty()) pieces.push_back({p.first, p.end});
    for (const LaunchRange& piece : pieces) {
      for (uint32_t i = piece.first; i < piece.end; ++i)
        sum += d.sample->parts[at].weight * cycles[i];
      ++at;
    }
  }
  return sum / all;
}

TEST(LaunchSample, WhatOneHalfOfTheProgramHasMoreIsOffByChanceOnly) {
  // Launches grow and shrink along a diagonal; those of the same size have the same features.
  const Recording r = record("needleman-wunsch", workloads::Size::kMedium);
  std::vector<double> cycles(r.launches.size(), 13'000);
  std::fill(cycles.begin() + static_cast<ptrdiff_t>(cycles.size() / 2), cycles.end(), 10'000);
  constexpr int kSeeds = 200;
  double sum = 0, squares = 0;
  std::set<std::vector<uint32_t>> choices;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Division d = sample_launches(r, 0.05, 2, 0, {}, seed);
    ASSERT_TRUE(d.sample.has_value());
    const double off = estimated(d, cycles) - 1;
    sum += off;
    squares += off * off;
    std::vector<uint32_t> first;
    for (const LaunchPart& p : d.parts) first.push_back(p.first);
    choices.insert(first);
  }
  // The mean is off by less than three of its standard errors, which are 0.17 % each.
  EXPECT_LT(std::abs(sum / kSeeds), 3 * std::sqrt(squares / kSeeds / kSeeds));
  EXPECT_GT(choices.size(), kSeeds / 2u);
}

TEST(LaunchSample, LaunchesOfPoliciesThatDecideByLoadAreExpectedToSpread) {
  Recording r = repeated("kmeans", 60);
  const auto spread = [&](bool by_load) {
    const Division d = sample_launches(r, 0.1, 2, 0, {}, 0, false, by_load);
    double most = 0;
    EXPECT_TRUE(d.sample.has_value());
    if (d.sample.has_value())
      for (const SampleStratum& s : d.sample->strata) most = std::max(most, s.spread);
    return most;
  };
  EXPECT_GT(spread(true), 1.1 * spread(false)) << "short launches more than long ones";
  // Every other launch waits for all but the one before it.
  for (uint32_t i = 1; i < r.launches.size(); i += 2) {
    r.launches[i].after_all = false;
    r.launches[i].after.clear();
    if (i >= 3) r.launches[i].after = {i - 3, i - 2};
  }
  EXPECT_LT(spread(false), kSpreadBeside);
  EXPECT_GE(spread(true), kSpreadBeside);
}

TEST(LaunchSample, PartsMeetRefreshesAtTimesThatAreEvenlySpread) {
  const Division d = sample_launches(record("gaussian", workloads::Size::kMedium), 0.03, 2);
  ASSERT_GE(d.parts.size(), 8u);
  std::vector<uint32_t> at;
  for (const LaunchPart& p : d.parts) {
    EXPECT_EQ(p.refresh.has_value(), p.begin != 0) << "a program's beginning is as it is";
    if (p.refresh.has_value()) at.push_back(*p.refresh);
  }
  std::sort(at.begin(), at.end());
  const double even = 0x1p32 / static_cast<double>(at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const uint32_t gap = i == 0 ? at[0] - at.back() : at[i] - at[i - 1];
    EXPECT_GT(gap, 0.3 * even);
    EXPECT_LT(gap, 3 * even);
  }
}

TEST(LaunchSample, ThoseThatRepeatEachOtherAreChosenNearToEachOther) {
  const Division d = sample_launches(repeated("kmeans", 60), 0.05, 2);
  ASSERT_TRUE(d.sample.has_value());
  EXPECT_LT(d.parts.size(), d.sample->parts.size());
}

TEST(LaunchSample, TheFirstLaunchesMayStandForThemselvesTogether) {
  const Recording r = record("gaussian", workloads::Size::kMedium);
  for (const uint32_t together : {1u, 6u}) {
    const Division d = sample_launches(r, 0.05, 2, together);
    ASSERT_TRUE(d.sample.has_value());
    EXPECT_EQ(d.parts[0], (LaunchPart{0, 0, together, false}));
    EXPECT_EQ(d.sample->parts[0].stratum, SampleUnit::kItself);
    EXPECT_EQ(d.sample->parts[0].weight, 1);
    EXPECT_GE(d.parts[1].first, together);
    double units = 0;
    for (const SampleStratum& s : d.sample->strata) units += static_cast<double>(s.units);
    for (const SampleUnit& u : d.sample->parts) units += u.stratum == SampleUnit::kItself ? 1 : 0;
    EXPECT_LE(units, static_cast<double>(d.sample->units));
  }
}

TEST(LaunchSample, AProgramOfFewLaunchesIsSimulatedWhole) {
  const Division few = sample_launches(record("fdtd"), 0.02, 2);
  EXPECT_TRUE(few.parts.empty());
  EXPECT_EQ(few.in_one_go.value().tried, "a sample within 2 %");
  EXPECT_NE(few.in_one_go->why.find("% of the program's instructions"), std::string::npos);
  EXPECT_TRUE(sample_launches(Recording(), 0.02, 2).parts.empty());
  EXPECT_TRUE(sample_launches(record("gaussian"), 0.015, 2).parts.empty());  // nearly all of it
}

TEST(LaunchSample, LaunchesThatMayRunTogetherAreOneUnit) {
  Recording r = record("gaussian");
  // Pairs, whose second launches wait for what their first ones wait for.
  for (uint32_t i = 1; i < r.launches.size(); i += 2) {
    r.launches[i].after_all = false;
    r.launches[i].after = i >= 3 ? std::vector<uint32_t>{i - 3, i - 2} : std::vector<uint32_t>{};
  }
  const Division d = sample_launches(r, 0.3, 2);
  ASSERT_TRUE(d.sample.has_value());
  EXPECT_EQ(d.sample->units, (r.launches.size() + 1) / 2);
  for (const LaunchPart& p : d.parts) {
    EXPECT_EQ(p.first % 2, 0u);
    EXPECT_EQ(p.end % 2, 0u);
  }
}

TEST(LaunchFeatures, OfPiecesAddUpToTheLaunch) {
  for (const char* name : {"kmeans", "bfs-rmat", "reduction-original"}) {
    SCOPED_TRACE(name);
    const Recording r = record(name);
    const std::vector<LaunchFeatures> launches = launch_features(r);
    std::vector<std::vector<uint32_t>> bounds(r.launches.size());
    for (size_t i = 0; i < r.launches.size(); i += 2)
      for (const uint64_t third : {1, 2})
        if (r.launches[i].blocks_recorded > 2)
          bounds[i].push_back(static_cast<uint32_t>(r.launches[i].blocks_recorded * third / 3));
    const auto pieces = features_of_pieces(r, bounds);
    ASSERT_EQ(pieces.size(), launches.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_EQ(pieces[i].size(), bounds[i].size() + 1);
      LaunchFeatures sum;
      for (size_t k = 0; k < pieces[i].size(); ++k) {
        const LaunchFeatures& f = pieces[i][k];
        sum.warp_instructions += f.warp_instructions;
        sum.thread_instructions += f.thread_instructions;
        sum.thread_blocks += f.thread_blocks;
        sum.warps += f.warps;
        sum.transactions += f.transactions;
        sum.sectors += f.sectors;
        sum.lines += f.lines;
        if (bounds[i].empty()) continue;
        EXPECT_EQ(f.thread_blocks,
                  (k == bounds[i].size() ? r.launches[i].blocks_recorded : bounds[i][k]) -
                      (k == 0 ? 0 : bounds[i][k - 1]));
        EXPECT_GE(f.longest_block * f.thread_blocks, f.warp_instructions);
        EXPECT_LE(f.longest_block, f.warp_instructions);
      }
      EXPECT_EQ(sum.warp_instructions, launches[i].warp_instructions);
      EXPECT_EQ(sum.thread_instructions, launches[i].thread_instructions);
      EXPECT_EQ(sum.thread_blocks, launches[i].thread_blocks);
      EXPECT_EQ(sum.warps, launches[i].warps);
      EXPECT_EQ(sum.transactions, launches[i].transactions);
      EXPECT_EQ(sum.sectors, launches[i].sectors);
      EXPECT_GE(sum.lines, launches[i].lines);
    }
  }
}

TEST(LaunchSample, LongLaunchesAreSampledInside) {
  const Recording r = record("vector-add");
  ASSERT_EQ(r.launches.size(), 1u);
  const uint64_t n = r.launches[0].blocks_recorded;
  EXPECT_TRUE(sample_launches(r, 0.1, 2).parts.empty()) << "machines are not known";
  const uint64_t resident = n / 300;
  ASSERT_GT(resident, 1u);
  const Division d = sample_launches(r, 0.1, 2, 0, {resident});
  ASSERT_TRUE(d.sample.has_value());
  const LaunchSample& s = *d.sample;
  EXPECT_EQ(s.divided, 1u);
  EXPECT_EQ(s.launches, 0u);
  EXPECT_TRUE(d.undivided.empty());
  ASSERT_EQ(s.parts.size(), d.parts.size());
  ASSERT_GE(d.parts.size(), 4u);
  EXPECT_LE(s.simulated, 0.5);
  EXPECT_EQ(d.parts.front().blocks->first, 0u);
  EXPECT_EQ(d.parts.back().blocks->end, n);
  double instructions = 0;
  for (size_t i = 0; i < d.parts.size(); ++i) {
    const BlockRange& b = d.parts[i].blocks.value();
    EXPECT_EQ(b.begin, b.first - std::min<uint64_t>(b.first, 8 * resident));
    EXPECT_LT(b.first, b.end);
    const bool at_end = i == 0 || i + 1 == d.parts.size();
    EXPECT_EQ(s.parts[i].stratum == SampleUnit::kItself, at_end);
    EXPECT_EQ(s.parts[i].instructions == 0, at_end) << "nothing is missing there";
    instructions += s.parts[i].weight * s.parts[i].share;
  }
  EXPECT_NEAR(instructions, 1, 0.01);
}

TEST(LaunchSample, LaunchesThatCannotBeSampledInsideSayWhy) {
  Recording r = record("vector-add");
  const uint64_t n = r.launches[0].blocks_recorded;
  const auto why = [&](uint64_t resident) {
    const Division d = sample_launches(r, 0.1, 2, 0, {resident});
    EXPECT_TRUE(d.parts.empty());
    EXPECT_EQ(d.undivided.size(), 1u);
    return d.undivided.empty() ? std::string() : d.undivided[0];
  };
  EXPECT_NE(why(n / 4).find("thread blocks, of which"), std::string::npos);
  compiler::Kernel kernel = *r.kernels[0];
  kernel.instructions[0].op = ptx::Opcode::kMembar;
  r.kernels[0] = std::make_shared<compiler::Kernel>(kernel);
  EXPECT_NE(why(n / 100).find("may wait for each other"), std::string::npos);
}

}  // namespace
}  // namespace nearwarp::runtime
