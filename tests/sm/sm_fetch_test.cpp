// Is the SM's fetch stage exact to the cycle: instruction buffers, branches, the instruction cache?
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;
using Cycles = std::vector<uint32_t>;

/// An SM that fetches two instructions at a time. A thread block arrives in cycle 0 of the log: in
/// that cycle a warp fetches, and it can issue from cycle 2 on.
struct FetchBench : SmBench {
  FetchBench() {
    params.fetch.width = 2;
    params.branch_latency = 1;
    params.num_schedulers = 4;
  }
  /// An instruction cache of two lines of four instructions, with one MSHR.
  void add_cache() {
    params.fetch.cached = true;
    params.fetch.line_shift = 2;
    params.fetch.cache.index = {1, 0, cache::SetFunction::kLinear};
    params.fetch.cache.ways = 2;
    params.fetch.cache.mshrs = 1;
    params.fetch.cache.merges = params.num_warps;
  }
  /// Warps of one block that all run these basic blocks.
  void run(uint32_t warps, const std::vector<uint32_t>& blocks) {
    program.launch(1, warps);
    traces.begin_block();
    for (uint32_t i = 0; i < warps; ++i) {
      Traces& w = traces.warp();
      for (const uint32_t block : blocks) w.run(block);
      w.end();
    }
    start();
    if (prepared) prepared(state());
    run_logged(1000);
    EXPECT_EQ(state().free_warps, WarpSet<1>::lowest(48));
  }
  std::function<void(SmState&)> prepared = {};  ///< before the first cycle
  const FetchCounters& fetches() { return state().fetch.counters; }
  std::vector<LineAddr> requested() {
    std::vector<LineAddr> lines;
    for (const MockMemory::Item& i : network->of(PacketKind::kRead))
      lines.push_back(i.packet.line - kCodeBase);
    return lines;
  }
};

std::vector<ImageInstr> alus(int n) {
  std::vector<ImageInstr> list;
  for (int i = 0; i < n; ++i) list.push_back(alu(i, {}));
  return list;
}

std::vector<ImageInstr> ending_with(std::vector<ImageInstr> list, const ImageInstr& last) {
  list.push_back(last);
  return list;
}

TEST(SmFetch, ALoneWarpIssuesTwoInstructionsInThreeCycles) {
  FetchBench b;
  const uint32_t block = b.program.block(ending_with(alus(4), exit_instr()));
  b.run(1, {block});
  EXPECT_EQ(b.cycles(0), (Cycles{2, 3, 5, 6, 8}));
  EXPECT_EQ(b.fetches().fetches, 3u);
  EXPECT_EQ(b.fetches().wasted, 0u);
}

TEST(SmFetch, BehindAJumpWhatWasFetchedIsLost) {
  {  // The jump is the buffer's last instruction: the next fetch is of code behind it, and wasted.
    FetchBench b;
    const uint32_t first = b.program.block(ending_with(alus(1), branch()));
    b.program.block(alus(3));
    const uint32_t target = b.program.block({exit_instr()});
    b.run(1, {first, target});
    EXPECT_EQ(b.cycles(0), (Cycles{2, 3, 7}));
    EXPECT_EQ(b.fetches().fetches, 3u);
    EXPECT_EQ(b.fetches().wasted, 1u);
  }
  {  // The buffer has instructions behind the jump: the warp fetches its target a cycle later.
    FetchBench b;
    const uint32_t first = b.program.block(ending_with(alus(2), branch()));
    b.program.block(alus(3));
    const uint32_t target = b.program.block({exit_instr()});
    b.run(1, {first, target});
    EXPECT_EQ(b.cycles(0), (Cycles{2, 3, 5, 8}));
    EXPECT_EQ(b.fetches().fetches, 3u);
    EXPECT_EQ(b.fetches().wasted, 0u);
  }
  {  // A jump that is not taken loses nothing.
    FetchBench b;
    const uint32_t first = b.program.block(ending_with(alus(1), branch()));
    const uint32_t next = b.program.block({exit_instr()});
    b.run(1, {first, next});
    EXPECT_EQ(b.cycles(0), (Cycles{2, 3, 5}));
  }
}

TEST(SmFetch, WarpsTakeTurns) {
  FetchBench b;
  const uint32_t block = b.program.block(ending_with(alus(1), exit_instr()));
  b.run(3, {block});
  EXPECT_EQ(b.cycles(1), (Cycles{2, 3}));  // warp 0 fetched "last" at the start
  EXPECT_EQ(b.cycles(2), (Cycles{3, 4}));
  EXPECT_EQ(b.cycles(0), (Cycles{4, 5}));
}

TEST(SmFetch, WarpsThatAMechanismWantsAheadFetchFirst) {
  FetchBench b;
  b.prepared = [](SmState& s) { s.fetch.ahead.set(2); };
  const uint32_t block = b.program.block(ending_with(alus(3), exit_instr()));
  b.run(4, {block});
  EXPECT_EQ(b.cycles(2), (Cycles{2, 3, 5, 6}));  // its second fetch before warp 1's first
  EXPECT_EQ(b.cycles(3), (Cycles{3, 4, 6, 7}));
  EXPECT_EQ(b.cycles(0), (Cycles{4, 5, 7, 8}));
  EXPECT_EQ(b.cycles(1), (Cycles{8, 9, 11, 12}));
}

TEST(SmFetch, SeveralWarpsInACycleAreDecodedInItButForTheLast) {
  FetchBench b;
  b.params.fetch.per_cycle = 3;
  const uint32_t block = b.program.block(ending_with(alus(1), exit_instr()));
  b.run(4, {block});
  EXPECT_EQ(b.cycles(1).front(), 1u);
  EXPECT_EQ(b.cycles(2).front(), 1u);
  EXPECT_EQ(b.cycles(3).front(), 2u);
  EXPECT_EQ(b.cycles(0).front(), 2u);  // in the next cycle, as the first of it
}

// A miss is found in the cycle of the fetch, and its request leaves in the next one. After 4 cycles
// on the way, 50 in memory and 4 on the way back, the warp fetches again: 59 cycles after its first
// attempt.
constexpr uint32_t kMiss = 1 + kLatency + 50 + kLatency;

TEST(SmFetch, ALineThatIsNotInTheCacheComesOverTheNetwork) {
  FetchBench b;
  b.add_cache();
  const uint32_t block = b.program.block(ending_with(alus(5), exit_instr()));
  b.run(1, {block});
  const uint32_t second = kMiss + 6 + kMiss;  // fetched when instruction 3 issues
  EXPECT_EQ(b.cycles(0),
            (Cycles{kMiss + 2, kMiss + 3, kMiss + 5, kMiss + 6, second + 2, second + 3}));
  EXPECT_EQ(b.requested(), (std::vector<LineAddr>{0, 1}));
}

TEST(SmFetch, WarpsThatMissTheSameLineWaitForOneRequestAndFetchOneAfterTheOther) {
  FetchBench b;
  b.add_cache();
  const uint32_t block = b.program.block(ending_with(alus(1), exit_instr()));
  b.run(3, {block});
  EXPECT_EQ(b.requested(), std::vector<LineAddr>{0});
  EXPECT_EQ(b.cycles(0).front(), kMiss + 2);
  EXPECT_EQ(b.cycles(1).front(), kMiss + 3);
  EXPECT_EQ(b.cycles(2).front(), kMiss + 4);
}

TEST(SmFetch, TheCacheKeepsTheLinesThatWereUsedLast) {
  FetchBench b;
  b.add_cache();
  std::vector<uint32_t> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(b.program.block(ending_with(alus(3), branch())));
  const uint32_t last = b.program.block({exit_instr()});
  // A taken branch at a line's end fetches the line behind it, too: 0 (1), 1 (2), 0 (1), ...
  b.run(1, {blocks[0], blocks[0], blocks[0], last});
  EXPECT_EQ(b.requested(), (std::vector<LineAddr>{0, 1, 3}));
  EXPECT_EQ(b.fetches().wasted, 3u);
}

TEST(SmFetch, WarpsThatFindNoMshrFreeTryAgain) {
  FetchBench b;
  b.add_cache();
  const uint32_t one = b.program.block(ending_with(alus(3), exit_instr()));
  const uint32_t other = b.program.block(ending_with(alus(3), exit_instr()));
  b.program.launch(1, 2);
  b.traces.begin_block();
  b.traces.warp().run(one).end();
  b.traces.warp().run(other).end();
  b.start();
  b.run_logged(1000);
  EXPECT_EQ(b.requested(), (std::vector<LineAddr>{1, 0}));  // warp 1 comes first
  EXPECT_EQ(b.cycles(1).front(), kMiss + 2);
  // When the line has come, its warp fetches; in the next cycle the other warp finds the MSHR free.
  EXPECT_EQ(b.cycles(0).front(), kMiss + 1 + kMiss + 2);
}

}  // namespace
}  // namespace nearwarp::sm
