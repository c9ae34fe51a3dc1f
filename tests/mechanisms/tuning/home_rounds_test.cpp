// Rounds on a main SM: when is a warp offered, and what becomes of one that was sent back?
#include <gtest/gtest.h>

#include "tests/mechanisms/tom/offload_bench.h"

namespace nearwarp::tuning {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kLine = 128;

/// A candidate of an instruction in front of a loop and the loop: one block, a load and an
/// instruction on its value. The trace has `rounds` of them, each of a line of its own.
struct Loop : OffloadBench {
  uint32_t head, front, body, tail, rounds = 0;
  uint32_t denials = 0;    ///< the front end says no so often
  uint32_t sent_back = 0;  ///< the stack SM sends back so often, after a round each
  explicit Loop(uint32_t n) : rounds(n) {
    head = program.block({alu(0, {})});
    front = program.block({alu(3, {})});
    body = program.block({load(1), alu(2, {1})}, 1);
    tail = program.block({alu(9, {})});
    tom::Candidate properties;
    properties.live_in_bytes = 12;
    properties.live_out_bytes = 4;
    program.candidate({front, body}, properties);
    program.loop_head(body, {20, 16});
    program.launch(1, 1);
    traces.begin_block();
    traces.warp();
    entry();
    offload.tuning.on = true;
    offload.tuning.inside = true;
    offload.tuning.after_refusal = Pause::kRound;
    offload.tuning.after_return = Pause::kLoop;
    const auto usual_front_end = front_end->handler;
    front_end->handler = [this, usual_front_end](const Packet& p, Tick t) {
      if (p.kind == tom::kOffloadAsk) {
        grants = denials == 0;
        denials -= grants ? 0 : 1;
      }
      return usual_front_end(p, t);
    };
    const auto usual_network = network->handler;
    network->handler = [this, usual_network](const Packet& p, Tick t) {
      if (p.kind != tom::kOffloadRequest || sent_back == 0) return usual_network(p, t);
      sent_back -= 1;
      Packet ack = p;
      ack.kind = tom::kOffloadAck;
      ack.tag = p.tag & 0xff;
      ack.line = tom::kSentBack;
      ack.bytes = 8 + 8 + 16 * 32;
      ack.payload += 2;  // a control word and a record further on
      network->send_at(t + away, ack);
      return true;
    };
  }
  /// Once more to the loop.
  void entry() {
    traces.run(head).run(front);
    for (uint32_t i = 0; i < rounds; ++i) traces.run(body).at(i * kLine, 4);
  }
  void go(Tick end = 3000) {
    traces.run(tail).end();
    start();
    run_logged(end);
    EXPECT_EQ(counters().blocks_finished, 1u);
    EXPECT_TRUE(rig.drained());
  }
  std::vector<MockMemory::Item> requests() const { return network->of(tom::kOffloadRequest); }
};

TEST(HomeRounds, ALoopIsOfferedAtItsFirstInstruction) {
  Loop b(4);
  b.go();
  ASSERT_EQ(b.requests().size(), 1u);
  const Packet p = b.requests()[0].packet;
  EXPECT_EQ(p.payload >> 32, b.program.blocks[b.body].first);
  EXPECT_EQ(p.bytes, 8 + 12 + 20 * 32);  // what is live at the loop's head
  // The instruction in front issues in cycle 2; the trial asks when its value is there, in 6.
  EXPECT_EQ(b.heard(tom::kOffloadAsk).at(0).at, kLatency + 6 + kLatency);
  EXPECT_EQ(b.candidate().entries, 1u);
  EXPECT_EQ(b.candidate().home_rounds, 0u);
  EXPECT_EQ(b.candidate().begins, 1u);
}

TEST(HomeRounds, BeforeTheLoopItIsOfferedOnce) {
  Loop b(4);
  b.offload.tuning.inside = false;
  b.offload.tuning.after_refusal = Pause::kLoop;
  b.denials = 1;
  b.go();
  EXPECT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
  EXPECT_EQ(b.requests().size(), 0u);
  EXPECT_EQ(b.candidate().home_rounds, 4u);
  EXPECT_EQ(b.candidate().refused_pending, 1u);
  EXPECT_EQ(b.candidate().begins, 0u);
}

TEST(HomeRounds, ARefusedWarpIsOfferedInTheNextRound) {
  Loop b(4);
  b.denials = 2;
  b.go();
  EXPECT_EQ(b.heard(tom::kOffloadAsk).size(), 3u);
  ASSERT_EQ(b.requests().size(), 1u);
  const AddressMap map;
  EXPECT_EQ(b.requests()[0].packet.dst, kStackSmEndpoint + map.stack_of(2));
  EXPECT_EQ(b.candidate().instances, 3u);
  EXPECT_EQ(b.candidate().refused_pending, 2u);
  EXPECT_EQ(b.candidate().home_rounds, 2u);
  EXPECT_EQ(b.candidate().offloaded, 1u);
}

TEST(HomeRounds, AFullStackOfWhichItKnowsIsNotAsked) {
  Loop b(3);
  b.offload.tuning.room_known = true;
  const AddressMap map;
  Packet busy_report;
  busy_report.kind = tom::kChannelBusy;
  for (uint32_t i = 0; i < 3; ++i) busy_report.sectors |= tom::full_bit(stack_id(map.stack_of(i)));
  b.front_end->send_at(0, busy_report);
  b.go();
  EXPECT_EQ(b.heard(tom::kOffloadAsk).size(), 0u);
  EXPECT_EQ(b.candidate().refused_pending, 3u);
  EXPECT_EQ(b.candidate().home_rounds, 3u);
  EXPECT_EQ(b.candidate().begins, 3u);
}

TEST(HomeRounds, OneThatWasSentBackGoesOnFromThereAndIsNotOfferedAgain) {
  Loop b(4);
  b.sent_back = 1;
  b.go();
  EXPECT_EQ(b.requests().size(), 1u);
  // Head, front, and both instructions of the three rounds that are left, and the last one.
  EXPECT_EQ(b.counters().issued(), 2u + 3 * 2 + 1);
  EXPECT_EQ(b.candidate().sent_back, 1u);
  EXPECT_EQ(b.candidate().returned, 1u);
  EXPECT_EQ(b.candidate().home_rounds, 3u);
  EXPECT_EQ(b.side().counters.ack_bytes, 8u + 8 + 16 * 32);
}

TEST(HomeRounds, NorWhenItComesToTheLoopAgain) {
  for (const Pause pause : {Pause::kEntry, Pause::kLoop, Pause::kWarp}) {
    Loop b(2);
    b.offload.tuning.after_return = pause;
    b.sent_back = 1;
    b.entry();
    b.go();
    EXPECT_EQ(b.requests().size(), pause == Pause::kEntry ? 2u : 1u);
    EXPECT_EQ(b.candidate().entries, 2u);
    EXPECT_EQ(b.candidate().home_rounds, pause == Pause::kEntry ? 1u : 3u);
  }
}

TEST(HomeRounds, TheNextWarpInItsSlotKnowsNothingOfIt) {
  Loop b(2);
  b.program.launches[0].num_blocks = 2;
  b.traces.run(b.tail).end();
  b.traces.begin_block();
  b.traces.warp();
  b.entry();
  b.traces.run(b.tail).end();
  b.sent_back = 1;
  b.build();
  b.launch(0, 0);
  b.launch(1, 1000);
  b.run_logged(3000);
  EXPECT_EQ(b.counters().blocks_finished, 2u);
  ASSERT_EQ(b.requests().size(), 2u);
  EXPECT_EQ(b.requests()[0].packet.tag & 0xff, b.requests()[1].packet.tag & 0xff);
}

TEST(HomeRounds, AConditionIsAskedInEveryRound) {
  Loop b(4);
  b.program.candidates[0].threshold = 3;
  b.denials = 10;
  b.go();
  // Two of four rounds have three and more ahead.
  EXPECT_EQ(b.candidate().instances, 3u);
  EXPECT_EQ(b.candidate().refused_pending, 2u);
  EXPECT_EQ(b.candidate().refused_condition, 1u);
  EXPECT_EQ(b.candidate().begins, 4u);
}

}  // namespace
}  // namespace nearwarp::tuning
