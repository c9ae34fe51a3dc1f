// What is each cycle of an SM used for, however the SM is stepped?
#include <gtest/gtest.h>

#include <map>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;
using Uses = std::map<CycleUse, uint64_t>;

/// The uses of the cycles before `end`, to which the bench has been run; unused ones are left out.
Uses uses(SmBench& b, uint32_t end) {
  const auto& c = b.state().cycles;
  const uint64_t* counts = b.rig.arena.get(c.counts);
  Uses all;
  for (uint32_t i = 0; i < c.counts.count; ++i)
    if (counts[i] != 0) all[static_cast<CycleUse>(i % kNumCycleUses)] += counts[i];
  for (uint32_t i = 0; i < kNumCycleUses; ++i)
    if (c.uses[i] != 0) all[static_cast<CycleUse>(i)] += c.uses[i];
  if (c.since != c.from) all[c.use] += c.since - c.from;
  if (end != c.since) all[cycle_use(b.params, b.state())] += end - c.since;
  return all;
}

/// A block of `warps` warps; `body(i)` writes the trace of warp i.
template <class F>
void start_block(SmBench& b, uint32_t warps, F&& body) {
  b.program.launch(1, warps);
  b.traces.begin_block();
  for (uint32_t i = 0; i < warps; ++i) {
    b.traces.warp();
    body(i);
    b.traces.end();
  }
  b.start();
}

/// Run to `end` as it comes, and with a step in every cycle: both must say the same.
template <class F>
Uses both_ways(uint32_t end, F&& prepare) {
  Uses results[2];
  for (const bool skip : {true, false}) {
    SmBench b;
    prepare(b);
    RunOptions options;
    options.skip = skip;
    options.to_limit = true;
    options.window = skip ? kLatency : 1;
    b.rig.run(options, end);
    results[skip ? 0 : 1] = uses(b, end);
    uint64_t sum = 0;
    for (const auto& [use, cycles] : results[skip ? 0 : 1]) sum += cycles;
    EXPECT_EQ(sum, end);
  }
  EXPECT_EQ(results[0], results[1]);
  return results[0];
}

TEST(CycleUse, EveryCycleOfADependentChainCounts) {
  const Uses u = both_ways(40, [](SmBench& b) {
    const uint32_t block = b.program.block({alu(1, {}, 10), alu(2, {1}, 10), exit_instr()});
    start_block(b, 1, [&](uint32_t) { b.traces.run(block); });
  });
  // The block arrives in cycle 4. It issues in cycles 5, 15 and 16, and is gone then.
  EXPECT_EQ(u, (Uses{{CycleUse::kIssued, 3},
                     {CycleUse::kDependency, 1 + 9},
                     {CycleUse::kNoWarp, 4 + (40 - 17)}}));
}

TEST(CycleUse, WarpsThatWaitForLoadsWaitForMemory) {
  const Uses u = both_ways(200, [](SmBench& b) {
    const uint32_t block = b.program.block({load(1), alu(2, {1}), exit_instr()});
    start_block(b, 1, [&](uint32_t) {
      b.traces.run(block);
      b.traces.at(0, 4);
    });
  });
  EXPECT_EQ(u.at(CycleUse::kIssued), 3u);
  // There and back, and 50 in memory; then its registers are written for a cycle.
  EXPECT_EQ(u.at(CycleUse::kMemory), kLatency + 50u + kLatency);
}

TEST(CycleUse, MostWarpsDecideWhatIsWaitedFor) {
  const auto barriers = [](uint32_t waiting) {
    return both_ways(300, [=](SmBench& b) {
      const uint32_t chain = b.program.block(
          {alu(1, {}, 100), alu(2, {1}, 1), control(Action::kBarrier), exit_instr()});
      const uint32_t quick = b.program.block({control(Action::kBarrier), exit_instr()});
      start_block(b, 1 + waiting, [&](uint32_t i) { b.traces.run(i == 0 ? chain : quick); });
    });
  };
  EXPECT_GT(barriers(3).at(CycleUse::kBarrier), 90u);
  EXPECT_EQ(barriers(1).count(CycleUse::kBarrier), 0u);  // of equals the one before it counts
  EXPECT_GT(barriers(1).at(CycleUse::kDependency), 90u);
}

TEST(CycleUse, AFullLoadStoreUnitHasAReason) {
  const auto loads = [](auto&& prepare) {
    return both_ways(3000, [&](SmBench& b) {
      b.params.lsu_queue = 1;
      prepare(b);
      const uint32_t block = b.program.block({load(1), exit_instr()});
      start_block(b, 4, [&](uint32_t i) {
        b.traces.run(block);
        b.traces.at(i * 32 * 128, 128);  // a line for each lane
      });
    });
  };
  EXPECT_GT(loads([](SmBench& b) { b.params.l1.mshrs = 64; }).at(CycleUse::kLsu), 32u);
  EXPECT_GT(loads([](SmBench& b) { b.params.l1.mshrs = 2; }).at(CycleUse::kMisses), 500u);
  EXPECT_GT(loads([](SmBench& b) { b.network_slots = 1; }).at(CycleUse::kNetwork), 500u);
}

TEST(CycleUse, BusyPortsAreWaitedFor) {
  const Uses u = both_ways(100, [](SmBench& b) {
    const uint32_t block = b.program.block(
        {alu(1, {}, 39, 8, Unit::kSfu), alu(2, {}, 39, 8, Unit::kSfu), exit_instr()});
    start_block(b, 1, [&](uint32_t) { b.traces.run(block); });
  });
  EXPECT_EQ(u.at(CycleUse::kPorts), 7u);
}

TEST(CycleUse, KernelsHaveTheCyclesOfTheirBlocks) {
  SmBench b;
  const uint32_t block = b.program.block({alu(1, {}, 10), alu(2, {1}, 10), exit_instr()});
  start_block(b, 1, [&](uint32_t) { b.traces.run(block); });
  RunOptions options;
  options.to_limit = true;
  b.rig.run(options, 10);
  EXPECT_EQ(b.state().cycles.row, 0u);
  EXPECT_EQ(b.state().cycles.warp_cycles, 0u);  // counted when the next warp comes or goes
  b.rig.run(options, 40);
  EXPECT_EQ(b.state().cycles.warp_cycles, 16u - 4u);
}

}  // namespace
}  // namespace nearwarp::sm
