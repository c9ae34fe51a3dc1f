// Are the SM's issue, latencies, schedulers, branches, barriers, fences and thread blocks right to
// the cycle?
#include <gtest/gtest.h>

#include "tests/support/sm_bench.h"

namespace nearwarp::sm {
namespace {

using namespace nearwarp::testing;
using Cycles = std::vector<uint32_t>;

/// A block arrives in cycle 0 of the log; its warps can issue from cycle 1 on.
constexpr uint32_t kFirst = 1;

/// One warp that runs `instrs` and exits.
Cycles one_warp(const std::vector<ImageInstr>& instrs, uint32_t sp_units = 2) {
  SmBench b;
  b.params.ports[static_cast<uint32_t>(Unit::kSp)] = sp_units;
  b.params.ports[static_cast<uint32_t>(Unit::kDp)] = 1;
  std::vector<ImageInstr> all = instrs;
  all.push_back(exit_instr());
  const uint32_t block = b.program.block(all);
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(block).end();
  b.start();
  b.run_logged(2000);
  Cycles c = b.cycles(0);
  EXPECT_EQ(c.size(), all.size());
  EXPECT_EQ(b.counters().issued(), all.size());
  EXPECT_EQ(b.counters().issued_threads(), all.size() * 32);
  EXPECT_EQ(b.state().free_warps, WarpSet<1>::lowest(48));
  c.resize(instrs.size());
  return c;
}

TEST(SmIssue, DependentInstructionsWaitForTheLatency) {
  for (const uint32_t latency : {1u, 4u, 13u, 63u, 64u, 65u, 145u, 330u}) {  // the wheel has 64
    const Cycles c = one_warp({alu(1, {0}, latency), alu(2, {1}, latency), alu(3, {2}, latency)});
    EXPECT_EQ(c, (Cycles{kFirst, kFirst + latency, kFirst + 2 * latency})) << latency;
  }
}

TEST(SmIssue, IndependentInstructionsFollowEveryCycle) {
  EXPECT_EQ(one_warp({alu(1, {}), alu(2, {}), alu(3, {}), alu(4, {})}), (Cycles{1, 2, 3, 4}));
}

TEST(SmIssue, WriteAfterWriteWaits) {
  EXPECT_EQ(one_warp({alu(1, {}, 9), alu(1, {}, 4)}), (Cycles{1, 10}));
}

TEST(SmIssue, PortsAreOccupiedForTheInterval) {
  const auto sfu = [](int dst) { return alu(dst, {}, 39, 4, Unit::kSfu); };
  EXPECT_EQ(one_warp({sfu(1), sfu(2), sfu(3)}), (Cycles{1, 5, 9}));
  const auto dp = [](int dst) { return alu(dst, {}, 8, 8, Unit::kDp); };
  EXPECT_EQ(one_warp({dp(1), dp(2), alu(3, {}), dp(4)}), (Cycles{1, 9, 10, 17}));
  const auto mul = [](int dst) { return alu(dst, {}, 4, 6); };
  EXPECT_EQ(one_warp({mul(1), mul(2), mul(3), mul(4)}, 2), (Cycles{1, 2, 7, 8}));
  EXPECT_EQ(one_warp({mul(1), mul(2), mul(3)}, 1), (Cycles{1, 7, 13}));
}

TEST(SmIssue, UnitsDoNotBlockOneAnother) {
  EXPECT_EQ(one_warp({alu(1, {}, 39, 4, Unit::kSfu), alu(2, {}, 8, 8, Unit::kDp), alu(3, {})}),
            (Cycles{1, 2, 3}));
}

TEST(SmIssue, BranchesHoldTheWarp) {
  EXPECT_EQ(one_warp({branch(), alu(1, {}), branch({1}), alu(2, {})}), (Cycles{1, 5, 9, 13}));
}

TEST(SmIssue, TwoSchedulersIssueInOneCycle) {
  SmBench b;
  const uint32_t block = b.program.block({alu(1, {}), alu(2, {}), alu(3, {}), exit_instr()});
  b.program.launch(1, 2);
  b.traces.begin_block();
  for (int i = 0; i < 2; ++i) b.traces.warp().run(block).end();
  b.start();
  b.run_logged(100);
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 3, 4}));
  EXPECT_EQ(b.cycles(1), (Cycles{1, 2, 3, 4}));
  EXPECT_EQ(b.counters().active_cycles, 4u);
}

/// `warps` warps of one block, `n` independent instructions each, one scheduler.
SmBench& many_warps(SmBench& b, uint32_t warps, uint32_t n, SchedulerPolicy policy) {
  b.params.num_schedulers = 1;
  b.params.policy = policy;
  std::vector<ImageInstr> instrs;
  for (uint32_t i = 0; i < n; ++i) instrs.push_back(alu(static_cast<int>(i), {}));
  const uint32_t block = b.program.block(instrs);
  b.program.launch(1, static_cast<uint32_t>(warps));
  b.traces.begin_block();
  for (uint32_t i = 0; i < warps; ++i) b.traces.warp().run(block).end();
  b.start();
  b.run_logged(200);
  return b;
}

TEST(SmIssue, GreedyThenOldestStaysWithAWarp) {
  SmBench b;
  many_warps(b, 3, 3, SchedulerPolicy::kGreedyThenOldest);
  // A warp's next instruction is ready one cycle later, so the greedy choice finds it ready.
  EXPECT_EQ(b.cycles(0), (Cycles{1, 2, 3}));
  EXPECT_EQ(b.cycles(1), (Cycles{4, 5, 6}));
  EXPECT_EQ(b.cycles(2), (Cycles{7, 8, 9}));
}

TEST(SmIssue, LooseRoundRobinTakesTurns) {
  SmBench b;
  many_warps(b, 3, 3, SchedulerPolicy::kLooseRoundRobin);
  Cycles order;
  for (const Issue& i : b.issues) order.push_back(i.warp);
  EXPECT_EQ(order, (Cycles{1, 2, 0, 1, 2, 0, 1, 2, 0}));  // "last" is warp 0 at the start
}

TEST(SmIssue, OldestBlockFirstEvenInHigherSlots) {
  SmBench b;
  b.params.num_schedulers = 1;
  b.params.num_warps = 2;
  // Block 0 is short, so that block 2 takes its slot (0) while the older block 1 is in slot 1.
  const uint32_t little = b.program.block({alu(1, {})});
  const uint32_t chain = b.program.block({alu(1, {1}, 4)});
  b.program.launch(3, 1);
  b.traces.begin_block();
  b.traces.warp().run(little).end();
  for (int i = 0; i < 2; ++i) {
    b.traces.begin_block();
    b.traces.warp().run(chain, kFull, 30).end();
  }
  b.build();
  b.launch(0, 0);
  b.launch(1, 1);
  b.launch(2, 13);  // arrives in the log's cycle 13, issues in 14: just when warp 1 is ready too
  b.run_logged(60);
  const Cycles one = b.cycles(1);
  Cycles zero = b.cycles(0);
  zero.erase(zero.begin());  // block 0's
  for (size_t i = 0; i + 1 < one.size(); ++i) EXPECT_EQ(one[i + 1] - one[i], 4u);
  EXPECT_EQ(one[0], 2u);
  EXPECT_EQ(zero[0], 15u);  // in cycle 14 the older block's warp goes first
}

TEST(SmIssue, BarrierReleasesWithTheLastWarp) {
  SmBench b;
  const uint32_t fast = b.program.block({control(Action::kBarrier), alu(1, {})});
  const uint32_t slow =
      b.program.block({alu(2, {}, 20), alu(3, {2}), control(Action::kBarrier), alu(1, {})});
  b.program.launch(1, 3);
  b.traces.begin_block();
  b.traces.warp().run(fast).end();
  b.traces.warp().run(slow).end();
  b.traces.warp().run(fast).end();
  b.start();
  b.run_logged(100);
  EXPECT_EQ(b.cycles(1), (Cycles{1, 21, 22, 23}));
  EXPECT_EQ(b.cycles(2)[1], 23u);  // it was the last to issue, and greedy is greedy
  EXPECT_EQ(b.cycles(0)[1], 24u);
  EXPECT_EQ(b.counters().barriers, 3u);
}

TEST(SmIssue, BarriersCountSomeWarpsAndArrivals) {
  SmBench b;
  const uint32_t waits = b.program.block({control(Action::kBarrier, 5, 2), alu(1, {})});
  const uint32_t arrives = b.program.block(
      {alu(2, {}, 30), alu(3, {2}), control(Action::kBarrierArrive, 5, 2), alu(1, {})});
  const uint32_t other = b.program.block({control(Action::kBarrier, 6, 1), alu(1, {})});
  b.program.launch(1, 3);
  b.traces.begin_block();
  b.traces.warp().run(waits).end();
  b.traces.warp().run(arrives).end();
  b.traces.warp().run(other).end();
  b.start();
  b.run_logged(100);
  EXPECT_EQ(b.cycles(1), (Cycles{1, 31, 32, 33}));
  EXPECT_EQ(b.cycles(0)[1], 33u);
  EXPECT_EQ(b.cycles(2)[1], b.cycles(2)[0] + 1);  // alone at its own barrier
}

TEST(SmIssue, EndedWarpsAreNotWaitedFor) {
  SmBench b;
  const uint32_t waits = b.program.block({control(Action::kBarrier), alu(1, {})});
  const uint32_t ends = b.program.block({alu(2, {}, 30), alu(3, {2})});
  b.program.launch(1, 2);
  b.traces.begin_block();
  b.traces.warp().run(waits).end();
  b.traces.warp().run(ends).end();
  b.start();
  b.run_logged(100);
  EXPECT_EQ(b.cycles(1), (Cycles{1, 31}));
  EXPECT_EQ(b.cycles(0), (Cycles{1, 32}));
}

TEST(SmIssue, LanesThatHaveExitedLeaveTheOthers) {
  SmBench b;
  const uint32_t head = b.program.block({alu(1, {}), branch({1})});
  const uint32_t out = b.program.block({exit_instr()});
  const uint32_t rest = b.program.block({alu(2, {}), exit_instr()});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(head).run(out, 0xffff).run(rest, 0xffff0000u).end();
  b.start();
  b.run_logged(100);
  EXPECT_EQ(b.cycles(0), (Cycles{1, 5, 9, 10, 11}));
  EXPECT_EQ(b.counters().issued_threads(), 32u + 32 + 16 + 16 + 16);
  EXPECT_EQ(b.heard(PacketKind::kBlockDone).size(), 1u);
}

TEST(SmIssue, BlockEndIsReportedInTheSameCycle) {
  SmBench b;
  const uint32_t block = b.program.block({alu(1, {}), exit_instr()});
  b.program.launch(2, 3);
  for (int k = 0; k < 2; ++k) {
    b.traces.begin_block();
    for (int i = 0; i < 3; ++i) b.traces.warp().run(block).end();
  }
  b.start();
  b.run_logged(100);
  // Scheduler 0 has warps 0, 2 and 4 with two instructions each, scheduler 1 warps 1, 3 and 5; the
  // second block arrives in cycle 1. Warps 0 and 2 belong to the first block.
  const auto done = b.heard(PacketKind::kBlockDone);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].packet.line, 0u);
  EXPECT_EQ(done[0].at, kLatency + 4 + kLatency);
  EXPECT_EQ(done[1].packet.line, 1u);
  EXPECT_EQ(done[1].at, kLatency + 6 + kLatency);
  EXPECT_EQ(b.counters().warps_finished, 6u);
  EXPECT_EQ(b.counters().blocks_finished, 2u);
  EXPECT_EQ(b.state().free_warps, WarpSet<1>::lowest(48));
  EXPECT_TRUE(b.rig.drained());
}

TEST(SmIssue, WarpWithoutInstructionsEnds) {
  SmBench b;
  const uint32_t empty = b.program.block({});
  b.program.block({alu(1, {})});
  b.program.launch(1, 2);
  b.traces.begin_block();
  b.traces.warp().end();
  b.traces.warp().run(empty).end();
  b.start();
  b.run_logged(50);
  EXPECT_EQ(b.heard(PacketKind::kBlockDone).size(), 1u);
  EXPECT_EQ(b.counters().issued(), 0u);
}

}  // namespace
}  // namespace nearwarp::sm
