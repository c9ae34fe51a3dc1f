// In which cycles do loads find a line in the SM's constant cache, wait for it, and request it?
#include <gtest/gtest.h>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm::sm_constants_test {
namespace {

using namespace nearwarp::testing;
using Cycles = std::vector<uint32_t>;

constexpr uint32_t kHit = 6;  // from the issue of a load to that of an instruction that needs it
// A miss is found in the cycle of issue and leaves in the next one; with 4 cycles there, 50 in
// memory and 4 back, the value is there in the cycle after.
constexpr uint32_t kMiss = 1 + kLatency + 50 + kLatency + 1;

ImageInstr constant(int dst) {
  ImageInstr in = instr(Unit::kSp, Action::kConstant, kHit, 1, dst, {});
  in.flags = kHasRecord;
  return in;
}
ImageInstr parameter(int dst, uint32_t byte) {
  ImageInstr in = instr(Unit::kSp, Action::kConstant, kHit, 1, dst, {});
  in.set_number(byte);
  return in;
}

/// A constant cache of two sets of one line of 64 bytes; a block's warps can issue from cycle 1 on.
struct ConstantBench : SmBench {
  ConstantBench() {
    params.branch_latency = 1;
    params.num_schedulers = 1;
    params.constants.cached = true;
    params.constants.line_shift = 6;
    params.constants.cache.index = {2, 1, cache::SetFunction::kLinear};
    params.constants.cache.ways = 1;
    params.constants.cache.mshrs = 2;
    params.constants.cache.merges = 4;
  }
  void run(uint32_t warps, const std::function<void(Traces&, uint32_t)>& trace) {
    program.launch(1, warps);
    traces.begin_block();
    for (uint32_t i = 0; i < warps; ++i) {
      Traces& w = traces.warp();
      trace(w, i);
      w.end();
    }
    start();
    run_logged(2000);
    EXPECT_EQ(state().free_warps, WarpSet<1>::lowest(48));
    EXPECT_EQ(state().constants.free_loads, low_bits(8));
    EXPECT_EQ(state().constants.cache.mshr_free, low_bits(params.constants.cache.mshrs));
  }
  /// The requests so far, as numbers of blocks of 64 bytes.
  std::vector<uint64_t> requested() {
    std::vector<uint64_t> parts;
    for (const MockMemory::Item& i : network->of(PacketKind::kRead))
      parts.push_back(uint64_t{i.packet.line} * 2 + (i.packet.sectors == 0b1100 ? 1 : 0));
    return parts;
  }
};

TEST(SmConstants, AMissComesOverTheNetworkAndTheNextLoadOfTheLineHits) {
  ConstantBench b;
  const uint32_t block =
      b.program.block({parameter(1, 8), alu(2, {1}), parameter(3, 60), alu(4, {3}), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block); });
  const uint32_t there = 1 + kMiss;
  EXPECT_EQ(b.cycles(0), (Cycles{1, there, there + 1, there + 1 + kHit, there + 2 + kHit}));
  EXPECT_EQ(b.requested(), std::vector<uint64_t>{0});
}

TEST(SmConstants, AWarpGoesOnToTheFirstInstructionThatNeedsTheValue) {
  ConstantBench b;
  const uint32_t block =
      b.program.block({parameter(1, 0), parameter(2, 4), alu(3, {}), alu(4, {1, 2}), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block); });
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 3, 1 + kMiss, 2 + kMiss}));
  EXPECT_EQ(b.requested(), std::vector<uint64_t>{0});
}

TEST(SmConstants, AWarpDoesNotEndBeforeItsLoads) {
  ConstantBench b;
  const uint32_t block = b.program.block({parameter(1, 0), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block); });
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2}));
}

TEST(SmConstants, OnlyTheSectorsOfALineAreAskedForWhereTheL2HasSectors) {
  ConstantBench b;
  b.params.constants.sectors = 0b11;
  const uint32_t block = b.program.block(
      {parameter(1, 64), alu(2, {1}), parameter(3, 128), alu(4, {3}), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block); });
  const auto reads = b.network->of(PacketKind::kRead);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[0].packet.line, 0u);
  EXPECT_EQ(reads[0].packet.sectors, 0b1100u);
  EXPECT_EQ(reads[1].packet.line, 1u);
  EXPECT_EQ(reads[1].packet.sectors, 0b0011u);
}

TEST(SmConstants, LanesThatWantSeveralLinesTakeACycleForEach) {
  ConstantBench b;
  b.params.constants.sectors = 0b11;
  const uint32_t block = b.program.block({constant(1), alu(2, {1}), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block).at(256, 4).run(block).at(256, 4); });
  // 128 bytes: two lines, requested in cycles 2 and 3. Then they are there.
  const uint32_t second = 2 + kMiss + 2;
  EXPECT_EQ(b.cycles(0),
            (Cycles{1, 2 + kMiss, 2 + kMiss + 1, second, second + 1 + kHit, second + 2 + kHit}));
  EXPECT_EQ(b.requested(), (std::vector<uint64_t>{4, 5}));
}

TEST(SmConstants, ALoadOfMoreLinesThanTheCacheHasEnds) {
  ConstantBench b;
  b.params.constants.sectors = 0b11;
  const uint32_t block = b.program.block({constant(1), alu(2, {1}), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block).at(0, 128); });
  // 32 lines of one set with one way: each is requested once, when the one before it has come.
  ASSERT_EQ(b.requested().size(), 32u);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(b.requested()[i], 2 * i);
  // A stalled load looks again in the cycle after a line has come: 60 cycles for each.
  EXPECT_EQ(b.cycles(0), (Cycles{1 + 31 * kMiss, 1 + 32 * kMiss, 2 + 32 * kMiss}));
}

TEST(SmConstants, LanesOutsideAGuardWantNothing) {
  ConstantBench b;
  ImageInstr guarded = constant(1);
  guarded.flags |= kGuarded;
  const uint32_t block = b.program.block({guarded, alu(2, {1}), exit_instr()});
  b.run(1, [&](Traces& t, uint32_t) { t.run(block).guard(0); });
  EXPECT_EQ(b.cycles(0), (Cycles{1, 1 + kHit, 2 + kHit}));
  EXPECT_TRUE(b.requested().empty());
}

TEST(SmConstants, WarpsMergeAndThoseThatFindNoRoomTryAgain) {
  ConstantBench b;
  const uint32_t block = b.program.block({parameter(1, 0), alu(2, {1}), exit_instr()});
  b.run(6, [&](Traces& t, uint32_t) { t.run(block); });
  EXPECT_EQ(b.requested(), std::vector<uint64_t>{0});
  for (uint32_t warp = 0; warp < 4; ++warp) EXPECT_EQ(b.cycles(warp)[0], 1 + warp);
  // The other two warps find the line there, one after the other.
  EXPECT_GT(b.cycles(4)[0], kMiss);
  EXPECT_GT(b.cycles(5)[0], kMiss);
  EXPECT_EQ(b.cycles(4)[1], b.cycles(4)[0] + kHit);
}

TEST(SmConstants, ANewKernelFindsNoParametersOfTheOneBefore) {
  ConstantBench b;
  const uint32_t block = b.program.block({parameter(1, 0), alu(2, {1}), exit_instr()});
  for (int launch = 0; launch < 2; ++launch) {
    b.program.launch(1, 1);
    b.traces.begin_block();
    b.traces.warp().run(block).end();
  }
  b.build();
  b.launch(0, 0, 0);
  b.launch(1, 300, 1);
  b.run_logged(2000);
  EXPECT_EQ(b.requested().size(), 2u);
}

TEST(SmConstants, WithoutACacheEveryLoadHits) {
  ConstantBench b;
  b.params.constants.cached = false;
  const uint32_t block = b.program.block({constant(1), alu(2, {1}), exit_instr()});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(block).at(0, 128).end();
  b.start();
  b.run_logged(1000);
  EXPECT_EQ(b.cycles(0), (Cycles{1, 1 + kHit, 2 + kHit}));
  EXPECT_TRUE(b.requested().empty());
}

}  // namespace
}  // namespace nearwarp::sm::sm_constants_test
