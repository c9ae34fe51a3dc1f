// Rounds on a stack SM: when is a warp sent back, from where, and with what?
#include <gtest/gtest.h>

#include "tests/mechanisms/tom/stack_bench.h"

namespace nearwarp::tuning::near_rounds_test {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kLine = 128;
/// Lines of stack 0, which is the bench's, and of others.
uint64_t own(uint32_t i) {
  const AddressMap map;
  uint32_t line = 0;
  for (;; ++line)
    if (map.stack_of(line) == 0 && i-- == 0) return uint64_t{line} * kLine;
}
uint64_t other(uint32_t i) {
  const AddressMap map;
  uint32_t line = 0;
  for (;; ++line)
    if (map.stack_of(line) != 0 && i-- == 0) return uint64_t{line} * kLine;
}

/// A candidate that is a loop of one block: a load, and an instruction on its value.
struct Rounds : StackBenchOf<1> {
  Rounds() : StackBenchOf<1>({load(1), alu(2, {1}, 30)}, 12) {
    program.loop_head(body, {20, 16});
    offload.tuning.on = true;
    offload.tuning.adaptation = true;
    traces.run(head);
  }
  void round(uint64_t address) { traces.run(body).at(address, 4); }
  void finish(Tick end = 3000) {
    traces.run(tail).end();
    build();
    request(kLatency);
    go(end);
  }
  bool sent_back() const { return acks().at(0).packet.line == tom::kSentBack; }
};

TEST(NearRounds, DataInItsOwnStackKeepsAWarp) {
  Rounds b;
  for (uint32_t i = 0; i < 5; ++i) b.round(own(i));
  b.finish();
  ASSERT_EQ(b.acks().size(), 1u);
  EXPECT_FALSE(b.sent_back());
  EXPECT_EQ(b.acks()[0].packet.bytes, 8 + 12 * 32);
  EXPECT_EQ(b.candidate().near_rounds, 5u);
  EXPECT_EQ(b.candidate().begins, 5u);
  EXPECT_EQ(b.candidate().local_lines, 5u);
  EXPECT_EQ(b.counters().issued(), 10u);
}

TEST(NearRounds, DataElsewhereSendsItBackFromTheSecondRoundsHead) {
  Rounds b;
  for (uint32_t i = 0; i < 5; ++i) b.round(other(i));
  b.finish();
  ASSERT_EQ(b.acks().size(), 1u);
  EXPECT_TRUE(b.sent_back());
  const Packet ack = b.acks()[0].packet;
  EXPECT_EQ(ack.bytes, 8 + 8 + 16 * 32);  // program counter and mask, changed registers
  EXPECT_EQ(ack.payload >> 32, b.program.blocks[b.body].first);
  EXPECT_EQ(ack.sectors, kFull);
  // The trace position is that of the second round: one control word and one record further on.
  const sm::Cursor begin = find_candidate(b.program, b.traces, 0, 0);
  EXPECT_EQ(static_cast<uint32_t>(ack.payload), begin.trace_pos + 2);
  EXPECT_EQ(b.candidate().near_rounds, 1u);
  EXPECT_EQ(b.candidate().begins, 2u);
  EXPECT_EQ(b.counters().issued(), 2u);
}

TEST(NearRounds, ItGoesWhenItsRegistersHaveTheirValues) {
  // Spawned in cycle 0; the PIMBEGIN takes one, the load issues in 2 and its value is there 60
  // later; the next instruction takes 30, and stands before the head meanwhile.
  Rounds b;
  b.round(other(0));
  b.round(other(1));
  b.finish();
  EXPECT_EQ(b.cycles(0), (std::vector<uint32_t>{2, 62}));
  EXPECT_EQ(b.acks().at(0).at, kLatency + 92 + kLatency);
}

TEST(NearRounds, ThreeRoundsDecide) {
  // Rounds of its own stack and of others: a ratio of 1 to 2 is not above 100 %, 2 to 1 is.
  Rounds b;
  b.round(own(0));
  b.round(own(1));
  b.round(other(0));
  b.round(other(1));
  b.round(own(2));
  b.finish();
  EXPECT_TRUE(b.sent_back());
  EXPECT_EQ(b.candidate().near_rounds, 4u);
}

TEST(NearRounds, AFullHistoryIsWaitedForWhereThePolicySaysSo) {
  Rounds b;
  b.offload.tuning.full_history = true;
  for (uint32_t i = 0; i < 5; ++i) b.round(other(i));
  b.finish();
  EXPECT_TRUE(b.sent_back());
  EXPECT_EQ(b.candidate().near_rounds, 3u);
}

TEST(NearRounds, TheThresholdIsTheOneOfThePolicy) {
  for (const uint32_t percent : {199u, 200u}) {
    Rounds b;
    b.offload.tuning.threshold_percent = percent;
    b.offload.tuning.full_history = true;
    b.round(own(0));
    b.round(other(0));
    b.round(other(1));
    b.round(own(1));
    b.finish();
    EXPECT_EQ(b.sent_back(), percent == 199) << percent;
  }
}

TEST(NearRounds, HitsAreNoRequests) {
  Rounds b;
  b.round(own(0));
  b.round(other(0));  // 1 over 1
  b.round(other(0));  // in the L1
  b.round(own(0));
  b.finish();
  EXPECT_FALSE(b.sent_back());
  EXPECT_EQ(b.candidate().remote_lines, 1u);
}

TEST(NearRounds, WithoutAdaptationThereIsNothingAtTheHead) {
  Rounds b;
  b.offload.tuning.adaptation = false;
  b.round(other(0));
  b.round(other(1));
  b.finish();
  EXPECT_FALSE(b.sent_back());
  EXPECT_EQ(b.candidate().near_rounds, 2u);
  EXPECT_EQ(b.candidate().begins, 0u);
  EXPECT_EQ(b.cycles(0).at(0), 1u);
}

TEST(NearRounds, WrittenLinesGoBeforeAWarpThatIsSentBack) {
  Rounds b;
  b.program.instrs[b.program.blocks[b.body].first] = store();
  b.program.instrs[b.program.blocks[b.body].first].marks = 1;
  b.program.instrs[b.program.blocks[b.body].first].edges = 1;
  b.round(other(0));
  b.round(other(1));
  b.finish();
  EXPECT_TRUE(b.sent_back());
  const auto dirty = b.network->of(tom::kOffloadDirty);
  ASSERT_EQ(dirty.size(), 1u);
  EXPECT_LT(dirty[0].at, b.acks().at(0).at);
  EXPECT_EQ(b.network->of(PacketKind::kWrite).size(), 1u);
}

}  // namespace
}  // namespace nearwarp::tuning::near_rounds_test
