// When are blocks of a conditional loop that save by themselves offered for offloading, and are
// they counted?
#include <gtest/gtest.h>

#include "tests/mechanisms/tom/stack_bench.h"

namespace nearwarp::tom {
namespace {

using namespace nearwarp::testing;

/// A loop of three instructions, a candidate from four rounds on, with a block of two from `first`
/// on.
struct Loop : OffloadBench {
  uint32_t head, body, tail;
  explicit Loop(uint32_t first = 0) {
    head = program.block({alu(0, {})});
    body = first == 0 ? program.block({load(1, {0}), alu(2, {1}), alu(3, {})}, 1)
                      : program.block({alu(3, {}), load(1, {0}), alu(2, {1})}, 1);
    tail = program.block({alu(9, {})});
    tom::Candidate loop;
    loop.threshold = 4;
    loop.live_in_bytes = 20;
    program.candidate({body}, loop);
    tom::Candidate block;
    block.live_in_bytes = 12;
    program.inner(body, first, 2, block);
    program.launch(1, 1);
    traces.begin_block();
    traces.warp();
  }
  /// Has decisions made in every round, as TOM's policies do.
  void in_rounds() {
    program.loop_head(body, {20, 16});
    offload.tuning.on = offload.tuning.inside = offload.tuning.round_is_instance = true;
    offload.tuning.after_refusal = tuning::Pause::kRound;
    offload.tuning.begin_cycles = 1;
    offload.tuning.trial_cycles = 10;
  }
  void go(uint32_t rounds) {
    traces.run(head).run(body, kFull, rounds);
    for (uint32_t i = 0; i < rounds; ++i) traces.at(i * 128, 4);
    traces.run(tail).end();
    start();
    run_logged(2000);
    EXPECT_EQ(counters().blocks_finished, 1u);
    EXPECT_TRUE(rig.drained());
  }
};

TEST(InnerBlocks, AreOfferedInEveryRoundOfALoopThatIsTooShort) {
  for (const uint32_t first : {0u, 1u}) {
    Loop b(first);
    b.go(3);
    EXPECT_EQ(b.candidate(0).instances, 1u);
    EXPECT_EQ(b.candidate(0).refused_condition, 1u);
    EXPECT_EQ(b.candidate(0).offloaded, 0u);
    EXPECT_EQ(b.candidate(1).instances, 3u);
    EXPECT_EQ(b.candidate(1).offloaded, 3u);
    EXPECT_EQ(b.candidate(1).returned, 3u);
    EXPECT_EQ(b.counters().issued(), 2u + 3u);  // head and tail, the loop's own in each round
    const auto requests = b.network->of(kOffloadRequest);
    ASSERT_EQ(requests.size(), 3u);
    for (const auto& r : requests) {
      EXPECT_EQ(r.packet.bytes, 8 + 12 + 12 * 32);  // the block's registers, not the loop's
      EXPECT_EQ(r.packet.payload >> 32, uint64_t{1} << 31 | (1 + first));
    }
  }
}

TEST(InnerBlocks, AreNotWhereTheLoopGoes) {
  Loop b;
  b.go(4);
  EXPECT_EQ(b.candidate(0).offloaded, 1u);
  EXPECT_EQ(b.candidate(1).instances, 0u);
  EXPECT_EQ(b.counters().issued(), 2u);
  EXPECT_EQ(b.only(kOffloadRequest).bytes, 8 + 12 + 20 * 32);
}

TEST(InnerBlocks, TakeTheDecisionsLatencyOnceWhereTheyBeginWithTheLoop) {
  Loop b;
  b.go(1);
  // The head issues in cycle 1; loop and block are decided on in cycle 11.
  ASSERT_EQ(b.heard(kOffloadAsk).size(), 1u);
  EXPECT_EQ(b.heard(kOffloadAsk)[0].at, kLatency + 11 + kLatency);
  Loop middle(1);
  middle.go(1);
  // In cycle 11 the loop is refused; its first instruction issues in 12, the block is decided on in
  // 22.
  ASSERT_EQ(middle.heard(kOffloadAsk).size(), 1u);
  EXPECT_EQ(middle.heard(kOffloadAsk)[0].at, kLatency + 22 + kLatency);
}

TEST(InnerBlocks, StayAtHomeIfTheStackIsFull) {
  Loop b;
  b.grants = false;
  b.go(2);
  EXPECT_EQ(b.candidate(1).instances, 2u);
  EXPECT_EQ(b.candidate(1).refused_pending, 2u);
  EXPECT_EQ(b.candidate(1).kept, 2u);
  EXPECT_EQ(b.candidate(0).kept, 0u);  // short ones are not what offloading is compared with
  EXPECT_EQ(b.counters().issued(), 2u + 6u);
}

TEST(InnerBlocks, AreLearntFromWhereTheLoopIsTooShort) {
  for (const uint32_t rounds : {2u, 4u}) {
    Loop b;
    b.learning = true;
    b.go(rounds);
    EXPECT_EQ(b.candidate(0).learning, rounds == 4 ? 1u : 0u);
    EXPECT_EQ(b.candidate(1).learning, rounds == 4 ? 0u : 2u);
    AnalyzerTotals t;
    for (const auto& i : b.front_end->of(kInstanceSeen)) add_report(t, i.packet);
    EXPECT_EQ(t.instances, rounds == 4 ? 1u : 2u);
    EXPECT_EQ(t.accesses, rounds);
  }
}

TEST(InnerBlocks, WithDecisionsInEveryRound) {
  for (const uint32_t first : {0u, 1u}) {
    Loop b(first);
    b.in_rounds();
    uint32_t denials = 3;
    b.front_end->handler = [&](const Packet& p, Tick t) {
      if (p.kind != kOffloadAsk) return false;
      Packet a;
      a.kind = denials != 0 ? kOffloadDeny : kOffloadGrant;
      denials -= denials != 0 ? 1 : 0;
      a.tag = p.tag;
      b.front_end->send_at(t, a);
      return true;
    };
    b.go(6);
    // With 6, 5 and 4 rounds ahead the loop is denied a place, with 3 its condition does not hold.
    EXPECT_EQ(b.candidate(0).entries, 1u);
    EXPECT_EQ(b.candidate(0).instances, 4u);
    EXPECT_EQ(b.candidate(0).refused_pending, 3u);
    EXPECT_EQ(b.candidate(0).refused_condition, 1u);
    EXPECT_EQ(b.candidate(0).home_rounds, 6u);
    EXPECT_EQ(b.candidate(1).entries, 3u);
    EXPECT_EQ(b.candidate(1).instances, 3u);
    EXPECT_EQ(b.candidate(1).offloaded, 3u);
    EXPECT_EQ(b.candidate(1).home_rounds, 0u);
    EXPECT_EQ(b.counters().issued(), 2u + 3 * 3u + 3u);
  }
}

TEST(InnerBlocks, AreLearntFromInTheLastRounds) {
  for (const uint32_t first : {0u, 1u}) {
    Loop b(first);
    b.in_rounds();
    b.learning = true;
    b.go(5);
    EXPECT_EQ(b.candidate(0).learning, 2u);  // 5 and 4 rounds ahead
    EXPECT_EQ(b.candidate(1).learning, 3u);
    AnalyzerTotals t;
    for (const auto& i : b.front_end->of(kInstanceSeen)) add_report(t, i.packet);
    EXPECT_EQ(t.instances, 5u);
    EXPECT_EQ(t.accesses, 5u);
    EXPECT_EQ(b.counters().issued(), 2u + 5 * 3u);
  }
}

TEST(InnerBlocks, AStackSmExecutesTheBlockAlone) {
  for (const bool inner : {false, true}) {
    StackBenchOf<1> b({load(1), alu(2, {1}), alu(3, {})}, 12);
    tom::Candidate block;
    block.live_out_bytes = 4;
    b.program.inner(b.body, 0, 2, block);
    b.traces.run(b.head).run(b.body, kFull, 2).at(0, 4).at(128, 4).run(b.tail).end();
    b.build();
    Packet p;
    p.kind = kOffloadRequest;
    p.src = endpoint_of(kSmEndpoint);
    p.dst = endpoint_of(kStackSmEndpoint);
    p.tag = 5;
    pack_cursor(find_candidate(b.program, b.traces, 0, 0), p);
    if (inner) p.payload |= kInnerCandidate;
    b.network->send_at(0, p);
    b.go();
    EXPECT_EQ(b.counters().issued(), inner ? 2u : 6u);
    ASSERT_EQ(b.acks().size(), 1u);
    const Packet ack = b.acks()[0].packet;
    EXPECT_EQ(ack.payload >> 32, inner ? 3u : 4u);  // the loop's last instruction, or the tail
    EXPECT_EQ(ack.bytes, 8 + (inner ? 4 : 12) * 32);
    EXPECT_EQ(b.network->of(PacketKind::kRead).size(), inner ? 1u : 2u);
  }
}

}  // namespace
}  // namespace nearwarp::tom
