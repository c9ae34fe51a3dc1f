// In which cycles does the requesting SM take the steps of an offload?
#include <gtest/gtest.h>

#include "tests/mechanisms/tom/offload_bench.h"

namespace nearwarp::tom {
namespace {

using namespace nearwarp::testing;
using sm::Action;

/// `before`, a candidate of `body`, one more instruction.
struct Simple : OffloadBench {
  uint32_t head, body, tail;
  Simple(const std::vector<ImageInstr>& before, const std::vector<ImageInstr>& in,
         const tom::Candidate& properties = {}) {
    head = program.block(before);
    body = program.block(in, 1);
    tail = program.block({alu(9, {})});
    program.candidate({body}, properties);
    program.launch(1, 1);
    traces.begin_block();
    traces.warp();
  }
  void go(Tick end = 600) {
    start();
    run_logged(end);
    EXPECT_EQ(counters().blocks_finished, 1u);
    EXPECT_TRUE(rig.drained());
  }
};

TEST(Requester, TheWholeWayToTheCycle) {
  tom::Candidate properties;
  properties.live_in_bytes = 12;
  properties.live_out_bytes = 4;
  Simple b({alu(0, {})}, {load(1, {0}), alu(2, {1})}, properties);
  b.traces.run(b.head).run(b.body, 0xffff).at(5 * 128, 4).run(b.tail).end();
  b.go();
  // The head issues in cycle 1; the controller decides in cycle 11 and asks at once.
  ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
  const AddressMap map;
  EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].at, kLatency + 11 + kLatency);
  EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].packet.line, map.stack_of(5));
  // The answer is there in cycle 19; the request leaves in the same cycle.
  const auto requests = b.network->of(tom::kOffloadRequest);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].at, kLatency + 19 + kLatency);
  const Packet p = requests[0].packet;
  EXPECT_EQ(p.bytes, 8 + 12 + 12 * 32);
  EXPECT_EQ(p.dst, kStackSmEndpoint + map.stack_of(5));
  EXPECT_EQ(p.src, kSmEndpoint);
  EXPECT_EQ(p.sectors, 0xffffu);
  EXPECT_EQ(p.payload >> 32, 1u);  // the candidate's first instruction
  // There 4, away 100, back 4: the next instruction issues a cycle after the acknowledgement.
  EXPECT_EQ(b.cycles(0).back(), 19u + kLatency + 100 + kLatency + 1);
  EXPECT_EQ(b.candidate().instances, 1u);
  EXPECT_EQ(b.candidate().offloaded, 1u);
  const OffloadCounters& c = b.side().counters;
  EXPECT_EQ(c.returned, 1u);
  EXPECT_EQ(c.request_bytes, p.bytes);
  EXPECT_EQ(c.ack_bytes, 40u);
  EXPECT_EQ(c.away_cycles, kLatency + 100 + kLatency);
  // The slot is given back in the acknowledgement's cycle.
  ASSERT_EQ(b.heard(tom::kOffloadRelease).size(), 1u);
  EXPECT_EQ(b.heard(tom::kOffloadRelease)[0].at, kLatency + 19 + 108 + kLatency);
  EXPECT_EQ(b.heard(tom::kOffloadRelease)[0].packet.line, map.stack_of(5));
  EXPECT_EQ(b.counters().issued(), 2u);  // head and tail
  EXPECT_EQ(b.counters().redundant, 0u);
}

TEST(Requester, WithoutTheMechanismNothingHappens) {
  Simple b({alu(0, {})}, {load(1, {0})});
  b.offload.enabled = false;
  b.traces.run(b.head).run(b.body).at(0, 4).run(b.tail).end();
  b.go();
  EXPECT_EQ(b.counters().issued(), 3u);
  EXPECT_TRUE(b.heard(tom::kOffloadAsk).empty());
}

TEST(Requester, ConditionCountsTheIterationsAhead) {
  for (const uint32_t iterations : {1u, 3u, 4u, 9u}) {
    tom::Candidate properties;
    properties.threshold = 4;
    Simple b({alu(0, {})}, {load(1, {0})}, properties);
    b.traces.run(b.head).run(b.body, kFull, iterations);
    for (uint32_t i = 0; i < iterations; ++i) b.traces.at(i * 128, 4);
    b.traces.run(b.tail).end();
    b.go(1200);
    const bool offloads = iterations >= 4;
    EXPECT_EQ(b.candidate().instances, 1u);
    EXPECT_EQ(b.candidate().refused_condition, offloads ? 0u : 1u);
    EXPECT_EQ(b.candidate().offloaded, offloads ? 1u : 0u);
    EXPECT_EQ(b.counters().issued(), offloads ? 2u : 2 + iterations);
    if (!offloads) {
      EXPECT_EQ(b.cycles(0)[1], 12u);  // the decision cost its ten cycles
    }
  }
}

TEST(Requester, BusyChannelsRefuseByTag) {
  const AddressMap map;
  const uint32_t stack = map.stack_of(3);
  for (uint32_t busy = 0; busy < 4; ++busy) {
    for (uint32_t tag = 0; tag < 4; ++tag) {
      for (const bool dynamic : {false, true}) {
        for (const bool other_stack : {false, true}) {
          tom::Candidate properties;
          properties.saves_tx = tag & 1;
          properties.saves_rx = tag >> 1;
          Simple b({alu(0, {})}, {load(1, {0})}, properties);
          b.offload.dynamic_control = dynamic;
          b.traces.run(b.head).run(b.body).at(3 * 128, 4).run(b.tail).end();
          Packet busy_report;
          busy_report.kind = tom::kChannelBusy;
          busy_report.sectors = busy << (2 * (other_stack ? (stack + 1) % 4 : stack));
          b.front_end->send_at(0, busy_report);
          b.go();
          // Offloading would add to a busy channel that it does not relieve.
          const bool tx = dynamic && !other_stack && (busy & 1) != 0 && (tag & 1) == 0;
          const bool rx = dynamic && !other_stack && (busy & 2) != 0 && (tag & 2) == 0;
          EXPECT_EQ(b.candidate().offloaded, tx || rx ? 0u : 1u);
          EXPECT_EQ(b.candidate().refused_busy_tx, tx ? 1u : 0u);
          EXPECT_EQ(b.candidate().refused_busy_rx, !tx && rx ? 1u : 0u);
        }
      }
    }
  }
}

TEST(Requester, DeniedRunsAtHome) {
  Simple b({alu(0, {})}, {load(1, {0}), alu(2, {1})});
  b.grants = false;
  b.traces.run(b.head).run(b.body).at(0, 4).run(b.tail).end();
  b.go();
  EXPECT_EQ(b.candidate().refused_pending, 1u);
  EXPECT_EQ(b.candidate().offloaded, 0u);
  EXPECT_EQ(b.cycles(0)[1], 20u);  // asked in 11, answered in 19
  EXPECT_EQ(b.counters().issued(), 4u);
  EXPECT_TRUE(b.network->of(tom::kOffloadRequest).empty());
  EXPECT_TRUE(b.heard(tom::kOffloadRelease).empty());
}

TEST(Requester, EarlierStoresAreInMemoryFirst) {
  Simple b({store(), alu(0, {})}, {load(1, {0})});
  b.traces.run(b.head).at(0, 128).run(b.body).at(0, 4).run(b.tail).end();
  b.go();
  // 32 lines leave in cycles 2 to 33, the last is acknowledged 58 cycles later.
  ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
  EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].at, kLatency + 33 + 58 + kLatency);
}

TEST(Requester, OtherWarpsStoresTooButNotLaterOnes) {
  OffloadBench b;
  b.params.num_schedulers = 1;
  const uint32_t stores = b.program.block({store(), alu(0, {}, 20), store({0})});
  const uint32_t head = b.program.block({alu(0, {})});
  const uint32_t body = b.program.block({load(1, {0})});
  b.program.candidate({body}, {});
  b.program.launch(1, 2);
  b.traces.begin_block();
  b.traces.warp().run(stores).at(0, 4).at(4096, 4).end();
  b.traces.warp().run(head).run(body).at(0, 4).end();
  b.start();
  b.run_logged(600);
  // The other warp's first store leaves in cycle 2 and is in memory in cycle 60. Its second one
  // (issued in cycle 22, after the decision) does not matter.
  EXPECT_EQ(b.cycles(0), (std::vector<uint32_t>{1, 2, 22}));
  ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
  EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].at, kLatency + 60 + kLatency);
}

TEST(Requester, RegistersHaveTheirValuesFirst) {
  {
    Simple b({load(0)}, {load(1), alu(2, {0, 1})});  // register 0 is on its way from memory
    b.traces.run(b.head).at(0, 4).run(b.body).at(128, 4).run(b.tail).end();
    b.go();
    ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
    EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].at, kLatency + 61 + kLatency);
  }
  {
    Simple b({alu(0, {}, 145)}, {load(1), alu(2, {0, 1})});  // a slow division
    b.traces.run(b.head).run(b.body).at(128, 4).run(b.tail).end();
    b.go();
    ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
    EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].at, kLatency + 146 + kLatency);
  }
}

TEST(Requester, RunsToTheFirstAccessAndCountsItTwice) {
  for (const bool granted : {true, false}) {
    Simple b({alu(0, {})}, {alu(1, {}), alu(2, {1}), load(3, {2})});
    b.grants = granted;
    b.traces.run(b.head).run(b.body, 0xff).at(7 * 128, 4).run(b.tail).end();
    b.go();
    // Decided in cycle 11; the two run in 12 and 16, the address is there in cycle 20.
    ASSERT_EQ(b.heard(tom::kOffloadAsk).size(), 1u);
    EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].at, kLatency + 20 + kLatency);
    EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].packet.line, AddressMap().stack_of(7));
    EXPECT_EQ(b.counters().redundant, granted ? 2u : 0u);
    EXPECT_EQ(b.counters().redundant_threads, granted ? 16u : 0u);
    EXPECT_EQ(b.counters().issued(), granted ? 4u : 5u);
    if (granted) {
      EXPECT_EQ(b.only(tom::kOffloadRequest).payload >> 32, 1u);  // from its start
    }
  }
}

TEST(Requester, NoAccessNoOffload) {
  Simple b({alu(0, {})}, {alu(1, {}), memory(Action::kLoad, 3, {}, 4, true)});
  b.traces.run(b.head).run(b.body).guard(0).run(b.tail).end();
  b.go();
  EXPECT_EQ(b.candidate().instances, 1u);
  EXPECT_EQ(b.candidate().no_memory_access, 1u);
  EXPECT_EQ(b.counters().issued(), 4u);
  EXPECT_EQ(b.counters().redundant, 0u);
  EXPECT_TRUE(b.heard(tom::kOffloadAsk).empty());
}

TEST(Requester, FirstActiveLaneOfEveryRecordFormNamesTheStack) {
  const AddressMap map;
  uint64_t scattered[32], far[32];
  for (uint32_t i = 0; i < 32; ++i) {
    scattered[i] = kBase + (1000 - i * i) * 128;
    far[i] = kBase + ((uint64_t{31 - i} << 33) + i * 128);
  }
  for (const uint32_t lane : {0u, 1u, 2u, 9u}) {
    const uint32_t mask = kFull << lane;
    for (int form = 0; form < 3; ++form) {
      Simple b({alu(0, {})}, {load(1, {0})});
      b.traces.run(b.head).run(b.body, mask);
      uint64_t address = kBase + 384 * lane;
      if (form == 0) b.traces.at(0, 384);
      if (form == 1) b.traces.addresses(mask, scattered), address = scattered[lane];
      if (form == 2) b.traces.addresses(mask, far), address = far[lane];
      b.traces.run(b.tail).end();
      b.go();
      EXPECT_EQ(b.heard(tom::kOffloadAsk)[0].packet.line,
                map.stack_of(static_cast<LineAddr>((address - kBase) / 128)));
    }
  }
}

TEST(Requester, DirtyLinesAreInvalidatedHereAndInTheirSlice) {
  Simple b({load(0), alu(4, {0})}, {store({4})});
  b.tail = b.program.block({load(5), alu(6, {5})});
  b.dirty = {2, 77};
  b.traces.run(b.head).at(2 * 128, 4).run(b.body).at(2 * 128, 4).run(b.tail).at(2 * 128, 4).end();
  b.go(1000);
  EXPECT_EQ(b.network->of(PacketKind::kRead).size(), 2u);  // the line is read again
  const auto packets = b.invalidations->of(PacketKind::kInvalidate);
  ASSERT_EQ(packets.size(), 2u);
  const AddressMap map;
  for (uint32_t i = 0; i < 2; ++i) {
    const LineAddr line = b.dirty[i];
    EXPECT_EQ(packets[i].packet.line, line);
    EXPECT_EQ(packets[i].packet.bytes, 8);
    EXPECT_EQ(packets[i].packet.dst,
              kSliceEndpoint + map.stack_of(line) * 4 + map.slice_in_stack(line));
  }
  EXPECT_EQ(b.side().counters.dirty_lines, 2u);
  EXPECT_EQ(b.state().l1.counters.invalidated_lines, 1u);
}

TEST(Requester, OneCandidateAfterAnother) {
  OffloadBench b;
  const uint32_t first = b.program.block({load(1)});
  const uint32_t second = b.program.block({load(2), alu(3, {2})});
  b.program.candidate({first}, {});
  b.program.candidate({second}, {});
  b.program.launch(1, 1);
  b.traces.begin_block();
  b.traces.warp().run(first).at(0, 4).run(second).at(128, 4).end();
  b.start();
  b.run_logged(1000);
  EXPECT_EQ(b.candidate(0).offloaded, 1u);
  EXPECT_EQ(b.candidate(1).offloaded, 1u);
  EXPECT_EQ(b.counters().issued(), 0u);
  EXPECT_EQ(b.counters().blocks_finished, 1u);
  EXPECT_EQ(b.heard(tom::kOffloadRelease).size(), 2u);
}

}  // namespace
}  // namespace nearwarp::tom
