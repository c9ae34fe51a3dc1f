// A shared array that goes along with an offloaded warp: which packets of how many bytes cross,
// what do its rows cost, who waits for whom?
#include <gtest/gtest.h>

#include "tests/mechanisms/tom/stack_bench.h"

namespace nearwarp::tuning::shared_rows_test {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kLine = 128, kHeader = 8, kContext = 12;

TEST(SharedRows, RowsAreAsWideAsTheBanks) {
  EXPECT_EQ(bytes_of_row(0, 300, 128), 128u);
  EXPECT_EQ(bytes_of_row(1, 300, 128), 128u);
  EXPECT_EQ(bytes_of_row(2, 300, 128), 44u);
  EXPECT_EQ(bytes_of_row(0, 128, 128), 128u);
  EXPECT_EQ(bytes_of_row(0, 4, 128), 4u);
}

void give_array(Program& program, SharedKind kind, uint32_t bytes) {
  tom::Candidate& c = program.candidates[0];
  c.shared = kind;
  c.shared_bytes = bytes;
  c.shared_rows = static_cast<uint16_t>((bytes + 127) / 128);
}

// --- the stack SM's side ---

/// A stack SM with a candidate (a load and an instruction on its value) that takes an array along.
struct Near : StackBenchOf<1> {
  Near(SharedKind kind, uint32_t bytes) : StackBenchOf<1>({load(1), alu(2, {1}, 30)}, 12) {
    give_array(program, kind, bytes);
    offload.tuning.on = true;
    offload.shared_rows = 16;
    traces.run(head).run(body).at(0, 4).run(tail).end();
    build();
  }
  std::vector<uint32_t> bytes_of(PacketKind kind) const {
    std::vector<uint32_t> bytes;
    for (const auto& i : network->of(kind)) bytes.push_back(i.packet.bytes);
    return bytes;
  }
};

TEST(SharedRows, AnAccumulatorBeginsWithZerosAndGoesBackInFrontOfTheAcknowledgement) {
  Near without(SharedKind::kNone, 0), b(SharedKind::kAccumulator, 300);
  for (Near* one : {&without, &b}) {
    one->request(kLatency);
    one->go();
  }
  // Three rows of zeros take three cycles; the warp issues in the third instead of in the first.
  EXPECT_EQ(without.cycles(0).at(0), 1u);
  EXPECT_EQ(b.cycles(0).at(0), 3u);
  EXPECT_EQ(b.bytes_of(tom::kMergeRow), (std::vector<uint32_t>{128 + 8, 128 + 8, 44 + 8}));
  const auto rows = b.network->of(tom::kMergeRow);
  const Tick done = without.acks().at(0).at + 2;
  EXPECT_EQ(rows[0].at, done);
  EXPECT_EQ(rows[1].at, done + 1);
  EXPECT_EQ(rows[2].at, done + 2);
  EXPECT_EQ(b.acks().at(0).at, done + 3);
  EXPECT_EQ(b.acks()[0].packet.bytes, kHeader + 12 * 32);
  for (const auto& r : rows) EXPECT_EQ(r.packet.tag, 5u);
  // Three rows are filled, and read again.
  EXPECT_EQ(b.counters().shared_accesses, 6u);
  EXPECT_EQ(b.counters().shared_cycles, 6u);
  EXPECT_EQ(b.side().shared_rows, 0u);
}

TEST(SharedRows, ATableComesBeforeTheRequestAndDoesNotGoBack) {
  Near b(SharedKind::kTable, 300);
  for (uint32_t i = 0; i < 3; ++i) {
    Packet row;
    row.kind = tom::kTableRow;
    row.src = endpoint_of(kSmEndpoint);
    row.bytes = static_cast<uint16_t>(kHeader + bytes_of_row(i, 300, 128));
    b.network->send_at(i, row);
  }
  b.request(kLatency + 3);
  b.go();
  EXPECT_TRUE(b.network->of(tom::kMergeRow).empty());
  EXPECT_EQ(b.acks().size(), 1u);
  EXPECT_EQ(b.counters().shared_accesses, 3u);
  EXPECT_EQ(b.cycles(0).at(0), 3u + 1);  // rows have been written as they came
  EXPECT_EQ(b.side().shared_rows, 0u);
}

TEST(SharedRows, AGuestWaitsForThePortOfSharedMemory) {
  // Two accumulators of eight rows at once: the second is filled behind the first.
  Near b(SharedKind::kAccumulator, 8 * 128);
  b.request(kLatency, 5);
  b.request(kLatency, 6);
  b.go(900);
  EXPECT_EQ(b.cycles(0).at(0), 8u);
  EXPECT_EQ(b.cycles(1).at(0), 16u);
  EXPECT_EQ(b.network->of(tom::kMergeRow).size(), 16u);
}

// --- the requesting SM's side ---

struct Home : OffloadBench {
  uint32_t head, body, tail;
  Home(SharedKind kind, uint32_t bytes) {
    head = program.block({alu(0, {})});
    body = program.block({load(1), alu(2, {1})}, 1);
    tail = program.block({alu(9, {2})});
    tom::Candidate properties;
    properties.live_in_bytes = 12;
    properties.live_out_bytes = 4;
    program.candidate({body}, properties);
    give_array(program, kind, bytes);
    program.launch(1, 1);
    traces.begin_block();
    traces.warp();
    traces.run(head).run(body).at(0, 4).run(tail).end();
    offload.tuning.on = true;
    offload.shared_rows = 16;
    if (kind != SharedKind::kAccumulator) return;
    const auto usual = network->handler;
    network->handler = [this, usual, bytes](const Packet& p, Tick t) {
      if (p.kind == tom::kOffloadRequest)
        for (uint32_t i = 0; i * 128 < bytes; ++i) {
          Packet row;
          row.kind = tom::kMergeRow;
          row.tag = p.tag & 0xff;
          row.bytes = static_cast<uint16_t>(kHeader + bytes_of_row(i, bytes, 128));
          network->send_at(t + away, row);
        }
      return usual(p, t);
    };
  }
  void go(Tick end = 1000) {
    start();
    run_logged(end);
    EXPECT_EQ(counters().blocks_finished, 1u);
    EXPECT_TRUE(rig.drained());
  }
  std::vector<MockMemory::Item> requests() const { return network->of(tom::kOffloadRequest); }
};

TEST(SharedRows, ARequestSaysWhereTheArrayIs) {
  Home without(SharedKind::kNone, 0), with(SharedKind::kAccumulator, 300);
  without.go();
  with.go();
  EXPECT_EQ(without.requests().at(0).packet.bytes, kHeader + kContext + 12 * 32);
  EXPECT_EQ(with.requests().at(0).packet.bytes, kHeader + kContext + 8 + 12 * 32);
  EXPECT_TRUE(with.network->of(tom::kTableRow).empty());
}

TEST(SharedRows, ATableIsSentRowByRowInFrontOfTheRequest) {
  Home without(SharedKind::kNone, 0), b(SharedKind::kTable, 300);
  without.go();
  b.go();
  const auto rows = b.network->of(tom::kTableRow);
  ASSERT_EQ(rows.size(), 3u);
  const Tick first = without.requests().at(0).at;
  const uint32_t bytes[] = {128, 128, 44};
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].at, first + i);
    EXPECT_EQ(rows[i].packet.bytes, kHeader + bytes[i]);
    EXPECT_EQ(rows[i].packet.dst, b.requests().at(0).packet.dst);
  }
  EXPECT_EQ(b.requests().at(0).at, first + 3);
  EXPECT_EQ(b.candidate().table_bytes, 300u);
  EXPECT_EQ(b.candidate().merged_bytes, 0u);
  EXPECT_EQ(b.counters().shared_cycles, 3u);
}

TEST(SharedRows, AWarpGoesOnWhenItsLastRowHasBeenMerged) {
  // Rows come in three cycles one after the other and take two each; the acknowledgement comes
  // behind them, and would have the warp go on in the next cycle.
  Home without(SharedKind::kNone, 0), b(SharedKind::kAccumulator, 300);
  without.go();
  b.go();
  const uint32_t alone =
      without.cycles(0).back();  // its acknowledgement comes where a row does here
  EXPECT_EQ(b.cycles(0).back(), alone - 1 + 6);
  EXPECT_EQ(b.candidate().merged_bytes, 300u);
  EXPECT_EQ(b.candidate().merge_cycles, 2u);
  EXPECT_EQ(b.counters().shared_accesses, 6u);
  EXPECT_EQ(b.counters().shared_cycles, 6u);
}

TEST(SharedRows, TheQuestionSaysHowMuchIsWantedAndTheReleaseGivesItBack) {
  Home b(SharedKind::kAccumulator, 300);
  b.go();
  EXPECT_EQ(b.heard(tom::kOffloadAsk).at(0).packet.extra, 3u);
  EXPECT_EQ(b.heard(tom::kOffloadRelease).at(0).packet.extra, 3u);
}

TEST(SharedRows, ARefusalForWantOfSharedMemoryIsCountedAsSuch) {
  Home b(SharedKind::kAccumulator, 300);
  b.front_end->handler = [&b](const Packet& p, Tick t) {
    if (p.kind != tom::kOffloadAsk) return false;
    Packet a;
    a.kind = tom::kOffloadDenyShared;
    a.tag = p.tag;
    b.front_end->send_at(t, a);
    return true;
  };
  b.go();
  EXPECT_TRUE(b.requests().empty());
  EXPECT_EQ(b.candidate().refused_shared, 1u);
  EXPECT_EQ(b.candidate().refused_pending, 0u);
}

TEST(SharedRows, WhatWasAddedAtHomeIsNotAddedAgain) {
  // The candidate updates the array before its first access to global memory, at its beginning or
  // after an instruction. The destination is not known yet, and the update must happen only once.
  for (const bool at_once : {true, false}) {
    OffloadBench b;
    const uint32_t head = b.program.block({alu(0, {})});
    const sm::ImageInstr update = memory(sm::Action::kSharedAtomic, -1, {});
    const uint32_t body = at_once ? b.program.block({update, load(1), alu(2, {1})}, 1)
                                  : b.program.block({alu(4, {}), update, load(1), alu(2, {1})}, 1);
    const uint32_t tail = b.program.block({alu(9, {2})});
    b.program.candidate({body}, tom::Candidate{});
    give_array(b.program, SharedKind::kAccumulator, 4);
    b.program.launch(1, 1);
    b.traces.begin_block();
    b.traces.warp();
    b.traces.run(head).run(body).at_shared(0, 4).at(0, 4).run(tail).end();
    b.offload.tuning.on = true;
    b.offload.shared_rows = 16;
    b.start();
    b.run_logged(1000);
    EXPECT_TRUE(b.network->of(tom::kOffloadRequest).empty());
    EXPECT_EQ(b.candidate().no_memory_access, 1u);
    EXPECT_EQ(b.candidate().kept, 1u);
    EXPECT_EQ(b.counters().shared_accesses, 1u);
    EXPECT_EQ(b.counters().redundant, 0u);
    EXPECT_TRUE(b.rig.drained());
  }
}

TEST(SharedRows, SharedAccessesDoNotChooseTheStack) {
  // The first access is to shared memory; the first to global memory is to a line of another stack
  // than line 0's.
  const AddressMap map;
  uint32_t line = 0;
  while (map.stack_of(line) == map.stack_of(0)) ++line;
  OffloadBench b;
  const uint32_t head = b.program.block({alu(0, {})});
  const uint32_t body =
      b.program.block({memory(sm::Action::kSharedLoad, 3, {}), load(1), alu(2, {1})}, 1);
  const uint32_t tail = b.program.block({alu(9, {2})});
  b.program.candidate({body}, tom::Candidate{});
  give_array(b.program, SharedKind::kTable, 4);
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp();
  b.traces.run(head).run(body).at_shared(0, 4).at(uint64_t{line} * kLine, 4).run(tail).end();
  b.offload.tuning.on = true;
  b.offload.shared_rows = 16;
  b.start();
  b.run_logged(1000);
  const auto requests = b.network->of(tom::kOffloadRequest);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].packet.dst, kStackSmEndpoint + map.stack_of(line));
  EXPECT_TRUE(b.rig.drained());
}

}  // namespace
}  // namespace nearwarp::tuning::shared_rows_test
