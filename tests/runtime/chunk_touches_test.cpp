// Is what chunks touch what a walk over their traces finds, and are units that repeat known?
#include "host/recording/chunk_touches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "bench/workloads/workload.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/launch_chunks.h"
#include "host/recording/record_lines.h"
#include "host/recording/sample_choice.h"

namespace nearwarp::runtime {
namespace {

/// Line, thread block, is it a store, is it local.
using What = std::tuple<uint64_t, uint64_t, bool, bool>;
struct LastUse {
  uint32_t after = 0, sectors = 0;
  bool operator==(const LastUse&) const = default;
};

struct Walk {
  const compiler::Kernel& kernel;
  uint64_t block = 0;
  uint32_t records = 0;
  uint64_t transactions = 0, sectors = 0;
  std::map<What, LastUse> lines = {};
  std::map<uint32_t, uint32_t> code = {};

  void warp(uint64_t b, uint32_t) { block = b; }
  void run(uint32_t b, uint32_t, uint32_t) { code[b] = records; }
  void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
    ++records;
    const compiler::Instruction& in = kernel.instructions[instruction];
    if (!is_of_device(in.mod.space)) return;
    const bool local = in.mod.space != ptx::Space::kGlobal && in.mod.space != ptx::Space::kGeneric;
    each_line(words, lanes, 7, [&](uint64_t line, uint32_t bits) {
      transactions += 1;
      sectors += static_cast<uint32_t>(std::popcount(bits));
      LastUse& last = lines[{line, block, in.op == ptx::Opcode::kSt, local}];
      last.after = records;
      last.sectors |= bits;
    });
  }
};

TEST(ChunkTouches, AreWhatAWalkFinds) {
  bool any_local = false;
  for (const char* name : {"kmeans", "bfs-rmat", "libor-original"}) {
    SCOPED_TRACE(name);
    VirtualDevice device;
    workloads::find(name)->run(device, workloads::Size::kSmall);
    const Recording r = device.take_recording(name);
    const auto touches = touches_of(r, 7);
    EXPECT_EQ(touches, touches_of(r, 7));
    for (uint32_t l = 0; l < std::min<size_t>(r.launches.size(), 6); ++l) {
      const uint32_t kernel = r.launches[l].kernel;
      uint32_t blocks = 0;
      each_chunk(r, l, 0, ~0u, [&](uint32_t chunk, uint32_t first, uint32_t behind) {
        EXPECT_EQ(first, blocks);
        blocks = behind;
        Walk walk{*r.kernels[kernel]};
        ChunkWalk(*r.kernels[kernel]).walk(*r.traces.chunk(chunk), walk);
        const auto found = touches->of(r, chunk, kernel);
        std::map<What, LastUse> lines;
        for (const ChunkTouches::Touch& t : found->touches) {
          LastUse& last = lines[{t.line, t.block, t.store, t.local}];
          last.after = std::max(last.after, t.after);
          last.sectors |= t.sectors;
          any_local |= t.local;
        }
        EXPECT_EQ(lines, walk.lines);
        std::map<uint32_t, uint32_t> code;
        for (const ChunkTouches::Code& c : found->code) code[c.block] = c.after;
        EXPECT_EQ(code, walk.code);
        EXPECT_EQ(found->records, walk.records);
        EXPECT_EQ(found->transactions, walk.transactions);
        EXPECT_EQ(found->transacted_sectors, walk.sectors);
      });
      EXPECT_EQ(blocks, r.launches[l].blocks_recorded);
      uint32_t some = 0;
      each_chunk(r, l, blocks / 3, blocks / 2, [&](uint32_t, uint32_t first, uint32_t behind) {
        EXPECT_LT(first, blocks / 2);
        EXPECT_GT(behind, blocks / 3);
        ++some;
      });
      if (blocks / 3 < blocks / 2) {
        EXPECT_GT(some, 0u);
      }
    }
  }
  EXPECT_TRUE(any_local);
}

/// Launches of one kernel that are all of one size, each simulated after one other.
SampleUnits units(uint32_t launches) {
  SampleUnits found;
  for (uint32_t i = 0; i < launches; ++i) {
    Unit& u = found.units.emplace_back();
    u.first = i;
    u.end = i + 1;
    u.begin = i == 0 ? 0 : i - 1;
    u.launches = 1;
    u.size = 1e6;
    u.work = 2000;
  }
  return found;
}

TEST(Strata, LaunchesThatTakeTurnsAreAsMuchTheSameAsOnesThatRepeat) {
  const SampleUnits found = units(64);
  const auto spread = [&](uint32_t kinds) {
    std::vector<uint32_t> alike(64);
    for (uint32_t i = 0; i < 64; ++i) alike[i] = i % kinds;
    const Strata strata(found, alike, 0.02, 0, false);
    // Each kind is a stratum, as long as there are few.
    EXPECT_EQ(strata.all().size(), kinds <= 8 ? kinds : 1u);
    return strata.all()[0].deviation;
  };
  EXPECT_EQ(spread(1), spread(2));
  EXPECT_EQ(spread(1), spread(8));
  EXPECT_LT(spread(8), spread(9));
}

TEST(Strata, WhatIsSimulatedFromTheProgramsBeginningStandsForItself) {
  SampleUnits found = units(64);
  found.units[3].features[kFreshLines] = 1e6;  // it is simulated, after launch 2
  found.units[2].begin = 0;
  found.units[2].features[kFreshLines] = 1e6;  // and this, with all before it
  const Strata strata(found, std::vector<uint32_t>(64), 0.02, 0, false);
  size_t alone = 0;
  for (const Stratum& s : strata.all()) {
    if (s.members.size() != 1) continue;
    EXPECT_LT(s.members[0], 4u);
    ++alone;
  }
  EXPECT_EQ(alone, 4u);
}

TEST(SampleChoice, TakesWhatLiesBetweenLaunchesThatAreSimulatedInOneGo) {
  const SampleUnits found = units(64);
  const Strata strata(found, std::vector<uint32_t>(64), 0.02, 0, false);
  const SampleChoice choice(found.units, strata.all(), std::vector<uint32_t>(64), 0, 0);
  for (const uint64_t n : {2, 5, 20}) {
    Members chosen = choice.of({n})[0];
    ASSERT_GE(chosen.size(), n);
    std::sort(chosen.begin(), chosen.end());
    EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end()) << "none twice";
    // Launches that only one other lies between: that is simulated before the second one anyway.
    for (size_t i = 1; i < chosen.size(); ++i) EXPECT_NE(chosen[i], chosen[i - 1] + 2);
  }
}

TEST(SampleChoice, TakesNearOnesOnlyWhereTheyRepeatTheChosenOne) {
  // Two strata whose launches take turns, and repeat each other.
  const SampleUnits found = units(128);
  std::vector<uint32_t> alike(128);
  for (uint32_t i = 0; i < 128; ++i) alike[i] = i % 2;
  std::vector<Stratum> strata(2);
  for (uint32_t i = 0; i < 128; ++i) strata[i % 2].members.push_back(i);
  const auto apart = [&](uint64_t seed) {
    const SampleChoice choice(found.units, strata, alike, 0, seed);
    const std::vector<Members> chosen = choice.of({1, 1});
    return std::max(chosen[0][0], chosen[1][0]) - std::min(chosen[0][0], chosen[1][0]);
  };
  for (uint64_t seed = 0; seed < 20; ++seed) EXPECT_LE(apart(seed), 2u);
  // None repeats another: both are taken at random.
  for (uint32_t i = 0; i < 128; ++i) alike[i] = i;
  uint32_t far = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) far += apart(seed) > 16 ? 1 : 0;
  EXPECT_GT(far, 8u);
}

}  // namespace
}  // namespace nearwarp::runtime
