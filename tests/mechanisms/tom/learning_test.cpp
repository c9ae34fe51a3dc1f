// What does the memory map analyzer of one SM report, when does the SM stand still, and how does it
// go on?
#include <gtest/gtest.h>

#include "tests/mechanisms/tom/offload_bench.h"

namespace nearwarp::tom {
namespace {

using namespace nearwarp::testing;
using sm::Action;

/// A bench in the learning phase, with a candidate `in` between two instructions.
struct Learning : OffloadBench {
  uint32_t head, body, tail;
  explicit Learning(const std::vector<ImageInstr>& in, const tom::Candidate& properties = {}) {
    head = program.block({alu(0, {})});
    body = program.block(in, 1);
    tail = program.block({alu(9, {})});
    program.candidate({body}, properties);
    program.launch(1, 1);
    learning = true;
    traces.begin_block();
    traces.warp();
  }
  AnalyzerTotals totals() const {
    AnalyzerTotals t;
    for (const auto& i : front_end->of(tom::kInstanceSeen)) add_report(t, i.packet);
    return t;
  }
  void order(PacketKind kind, Tick at) {
    Packet p;
    p.kind = kind;
    front_end->send_at(at, p);
  }
};

/// The offset of a line in device memory, in bytes.
uint64_t line(uint64_t n) { return n * 128; }

TEST(Learning, NothingIsOffloaded) {
  Learning b({load(1, {0}), store({1})});
  b.traces.run(b.head).run(b.body).at(line(5), 4).at(line(9), 4).run(b.tail).end();
  b.start();
  b.run_logged(600);
  EXPECT_TRUE(b.heard(tom::kOffloadAsk).empty());
  ASSERT_EQ(b.network->got.size(), 2u);
  const AddressMap map;  // L2 slices know that the lines are in the CPU's memory
  for (const auto& i : b.network->got)
    EXPECT_EQ(i.packet.dst,
              kSliceEndpoint + map.stack_of(i.packet.line) * 4 + map.slice_in_stack(i.packet.line));
  EXPECT_EQ(b.candidate().learning, 1u);
  EXPECT_EQ(b.candidate().instances, 0u);
  EXPECT_EQ(b.counters().issued(), 4u);
  EXPECT_TRUE(b.rig.drained());
}

TEST(Learning, EveryMappingIsJudgedByTheFirstAccess) {
  // Lines 0 and 4: bits 7:8 agree (both 0); 9:10 differ. Lines 0 and 64: bit 13 differs.
  Learning b({load(1, {0}), load(2, {0}), load(3, {0})});
  b.traces.run(b.head).run(b.body).at(line(0), 4).at(line(4), 4).at(line(64), 4).run(b.tail).end();
  b.start();
  b.run_logged(600);
  const AnalyzerTotals t = b.totals();
  EXPECT_EQ(t.instances, 1u);
  EXPECT_EQ(t.accesses, 3u);
  for (uint32_t m = 0; m < kNumMappings; ++m) {
    const uint64_t same = 1u + ((4u >> m & 3) == 0 ? 1 : 0) + ((64u >> m & 3) == 0 ? 1 : 0);
    EXPECT_EQ(t.at_destination[m], same) << "mapping " << m;
    EXPECT_EQ(t.one_stack[m], same == 3 ? 1u : 0u) << "mapping " << m;
  }
  // Bits 7:8 keep the three accesses together, as do 14:15 and higher ones; the lowest bits are
  // taken.
  EXPECT_EQ(best_mapping(t.at_destination), 0u);
}

TEST(Learning, AnAccessCountsOncePerLine) {
  Learning b({load(1, {0})});
  b.traces.run(b.head).run(b.body).at(line(0), 512).run(b.tail).end();  // 32 lanes, 4 lines apart
  b.start();
  b.run_logged(900);
  const AnalyzerTotals t = b.totals();
  EXPECT_EQ(t.accesses, 32u);
  EXPECT_EQ(t.at_destination[0], 32u);
  EXPECT_EQ(t.at_destination[2], 8u);
  EXPECT_EQ(t.at_destination[7], 32u);
}

TEST(Learning, ConditionsBelowTheThresholdDoNotCount) {
  for (const uint32_t iterations : {3u, 4u}) {
    tom::Candidate properties;
    properties.threshold = 4;
    Learning b({load(1, {0})}, properties);
    b.traces.run(b.head).run(b.body, kFull, iterations);
    for (uint32_t i = 0; i < iterations; ++i) b.traces.at(line(i), 4);
    b.traces.run(b.tail).end();
    b.start();
    b.run_logged(900);
    EXPECT_EQ(b.totals().instances, iterations >= 4 ? 1u : 0u);
    EXPECT_EQ(b.totals().accesses, iterations >= 4 ? 4u : 0u);
  }
}

TEST(Learning, InstancesWithoutAccessesDoNotCount) {
  Learning b({memory(Action::kLoad, 1, {0}, 4, true)});
  b.traces.run(b.head).run(b.body).guard(0).run(b.tail).end();
  b.start();
  b.run_logged(300);
  EXPECT_EQ(b.totals().instances, 0u);
  EXPECT_EQ(b.counters().issued(), 3u);
}

TEST(Learning, EveryInstanceOfAWarpIsReportedOnce) {
  Learning b({store({0})});
  constexpr uint32_t kInstances = 9;
  for (uint32_t i = 0; i < kInstances; ++i) b.traces.run(b.head).run(b.body).at(line(3 * i), 4);
  b.traces.run(b.tail).end();
  b.start();
  b.run_logged(2000);
  const AnalyzerTotals t = b.totals();
  EXPECT_EQ(t.instances, kInstances);
  EXPECT_EQ(t.accesses, kInstances);
  EXPECT_EQ(b.candidate().learning, kInstances);
  EXPECT_EQ(b.counters().issued(), 2 * kInstances + 1);
}

TEST(Learning, LongInstancesAreScaledToTheReport) {
  AnalyzerEntry e;
  e.accesses = 200'000;
  for (uint32_t m = 0; m < kNumMappings; ++m) e.at_destination[m] = m * 20'000;
  e.at_destination[9] = 200'000;
  AnalyzerTotals t;
  add_report(t, pack_report(e));
  EXPECT_EQ(t.accesses, 50'000u);
  for (uint32_t m = 0; m < 9; ++m) EXPECT_EQ(t.at_destination[m], m * 5'000);
  EXPECT_EQ(t.at_destination[9], 50'000u);
  EXPECT_EQ(t.one_stack[9], 1u);
  EXPECT_EQ(t.one_stack[8], 0u);
}

TEST(Learning, ScalingKeepsInstancesOfSeveralStacksApart) {
  AnalyzerEntry e;
  e.accesses = 131'071;
  for (uint32_t& n : e.at_destination) n = e.accesses;
  e.at_destination[3] -= 1;  // one access elsewhere; shifted by a bit the two would be equal
  AnalyzerTotals t;
  add_report(t, pack_report(e));
  EXPECT_EQ(t.accesses, 65'535u);
  for (uint32_t m = 0; m < kNumMappings; ++m) EXPECT_EQ(t.one_stack[m], m == 3 ? 0u : 1u) << m;
}

TEST(Learning, TouchedRangesAreMarked) {
  Learning b({load(1, {0}), store({1})});
  b.ranges = {{0, 4}, {8, 16}, {16, 17}, {40, 80}};
  b.traces.run(b.head).run(b.body).at(line(15), 4).at(line(40), 4).run(b.tail).end();
  b.start();
  b.run_logged(600);
  const uint8_t* touched = b.rig.arena.get(b.side().analyzer.touched);
  EXPECT_EQ(std::vector<uint8_t>(touched, touched + 4), (std::vector<uint8_t>{0, 1, 0, 1}));
}

TEST(Learning, AStoppedSmIssuesNothingUntilItGoesOn) {
  Learning b({load(1, {0}), alu(2, {1})});
  b.network->latency = 200;
  b.traces.run(b.head).run(b.body).at(line(5), 4).run(b.tail).end();
  b.order(tom::kLearningStop, 10);
  b.order(tom::kLearningResume, 500);
  b.start();
  b.run_logged(1200);
  // The load left before the stop. Once its value has come, the SM reports that it stands still.
  ASSERT_EQ(b.heard(tom::kLearningStopped).size(), 1u);
  EXPECT_GT(b.heard(tom::kLearningStopped)[0].at, 200u);
  EXPECT_LT(b.heard(tom::kLearningStopped)[0].at, 230u);
  const auto cycles = b.cycles(0);
  ASSERT_EQ(cycles.size(), 4u);
  EXPECT_LT(cycles[1], 10u);
  EXPECT_GE(cycles[2], 500u);
  EXPECT_EQ(b.counters().blocks_finished, 1u);
  EXPECT_TRUE(b.rig.drained());
}

TEST(Learning, AfterwardsCandidatesAreOffloaded) {
  Learning b({load(1, {0})});
  b.traces.run(b.head).run(b.body).at(line(5), 4);
  b.traces.run(b.head).run(b.body).at(line(6), 4).run(b.tail).end();
  b.order(tom::kLearningStop, 60);  // in the first instance or soon after it
  b.order(tom::kLearningResume, 300);
  b.start();
  b.run_logged(1500);
  EXPECT_EQ(b.candidate().learning + b.candidate().offloaded, 2u);
  EXPECT_EQ(b.counters().blocks_finished, 1u);
  EXPECT_TRUE(b.rig.drained());
}

TEST(Learning, ARoundIsAnInstanceWhereRoundsAreDecidedOn) {
  for (const bool inside : {false, true}) {
    Learning b({load(1, {0}), store({1})});
    b.program.loop_head(b.body, {8, 4});
    b.offload.tuning.on = true;
    b.offload.tuning.inside = b.offload.tuning.round_is_instance = inside;
    b.traces.run(b.head);
    for (uint32_t round = 0; round < 5; ++round)
      b.traces.run(b.body).at(line(round), 4).at(line(round + 8), 4);
    b.traces.run(b.tail).end();
    b.start();
    b.run_logged(3000);
    const AnalyzerTotals t = b.totals();
    EXPECT_EQ(t.instances, inside ? 5u : 1u);
    EXPECT_EQ(t.accesses, 10u);
    EXPECT_EQ(b.candidate().learning, t.instances);
    EXPECT_EQ(b.candidate().home_rounds, 5u);
    EXPECT_TRUE(b.heard(kOffloadAsk).empty());
    EXPECT_EQ(b.counters().blocks_finished, 1u);
    EXPECT_TRUE(b.rig.drained());
  }
}

TEST(Learning, ALoopThatWasBeingAnalysedIsOfferedAgainAfterwards) {
  Learning b({load(1, {0}), store({1})});
  b.program.loop_head(b.body, {8, 4});
  b.offload.tuning.on = true;
  b.offload.tuning.inside = b.offload.tuning.round_is_instance = true;
  b.network->latency = 100;
  b.traces.run(b.head);
  for (uint32_t round = 0; round < 12; ++round)
    b.traces.run(b.body).at(line(round), 4).at(line(round + 16), 4);
  b.traces.run(b.tail).end();
  b.order(kLearningStop, 150);  // in the middle of the loop
  b.order(kLearningResume, 600);
  b.start();
  b.run_logged(4000);
  EXPECT_GT(b.candidate().learning, 0u);
  EXPECT_LT(b.candidate().learning, 11u);
  EXPECT_EQ(b.candidate().offloaded, 1u);
  EXPECT_EQ(b.counters().blocks_finished, 1u);
  EXPECT_TRUE(b.rig.drained());
}

TEST(Learning, AnInstanceMayCountWithItsFirstAccess) {
  Learning b({alu(2, {}), load(1, {0}), load(3, {1})});
  b.offload.count_at_begin = true;
  b.network->latency = 200;
  b.traces.run(b.head).run(b.body).at(line(5), 4).at(line(9), 4).run(b.tail).end();
  b.order(tom::kLearningStop, 100);  // the first load is under way
  b.order(tom::kLearningResume, 500);
  b.start();
  b.run_logged(1200);
  ASSERT_EQ(b.heard(tom::kInstanceBegun).size(), 1u);
  EXPECT_EQ(b.heard(tom::kInstanceBegun)[0].packet.extra, 1u);
  EXPECT_LT(b.heard(tom::kInstanceBegun)[0].at, 100u);
  // The instance has not ended, but reports its accesses before the SM stands still.
  const auto seen = b.heard(tom::kInstanceSeen), stopped = b.heard(tom::kLearningStopped);
  ASSERT_EQ(seen.size(), 1u);
  ASSERT_EQ(stopped.size(), 1u);
  EXPECT_LT(seen[0].at, stopped[0].at);
  EXPECT_EQ(b.totals().accesses, 1u);
  EXPECT_EQ(b.counters().blocks_finished, 1u);
  EXPECT_TRUE(b.rig.drained());
}

TEST(Learning, InstancesThatEndAreNotCountedTwice) {
  Learning b({load(1, {0}), load(2, {0})});
  b.offload.count_at_begin = true;
  for (int i = 0; i < 3; ++i) b.traces.run(b.head).run(b.body).at(line(5), 4).at(line(9), 4);
  b.traces.run(b.tail).end();
  b.order(tom::kLearningStop, 900);
  b.start();
  b.run_logged(1500);
  uint32_t begun = 0;
  for (const auto& i : b.heard(tom::kInstanceBegun)) begun += i.packet.extra;
  EXPECT_EQ(begun, 3u);
  EXPECT_EQ(b.totals().instances, 3u);
  EXPECT_EQ(b.totals().accesses, 6u);
}

}  // namespace
}  // namespace nearwarp::tom
