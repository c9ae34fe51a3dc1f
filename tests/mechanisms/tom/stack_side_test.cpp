// In which cycles does the stack SM take the steps of an offload?
#include <gtest/gtest.h>

#include <set>

#include "tests/mechanisms/tom/stack_bench.h"

namespace nearwarp::tom {
namespace {

using namespace nearwarp::testing;
using sm::Action;

using StackBench = StackBenchOf<1>;

TEST(StackSide, LoadsAndAcknowledges) {
  StackBench b({load(1), alu(2, {1}, 30)}, 12);
  b.traces.run(b.head).run(b.body, 0xf0).at(9 * 128, 4).run(b.tail).end();
  b.build();
  b.request(kLatency);
  b.go();
  // Spawned in cycle 0, load in 1, the dependent instruction in 61 (see SmMemory.MissThenHit).
  EXPECT_EQ(b.cycles(0), (std::vector<uint32_t>{1, 61}));
  ASSERT_EQ(b.acks().size(), 1u);
  // Its result is there in cycle 91, and goes at once.
  EXPECT_EQ(b.acks()[0].at, kLatency + 91 + kLatency);
  const Packet ack = b.acks()[0].packet;
  EXPECT_EQ(ack.bytes, 8 + 12 * 32);
  EXPECT_EQ(ack.dst, kSmEndpoint);
  EXPECT_EQ(ack.tag, 5u);
  EXPECT_EQ(ack.payload >> 32, b.program.blocks[b.tail].first);  // where to go on
  EXPECT_EQ(ack.sectors, kFull);                                 // the mask there
  const auto reads = b.network->of(PacketKind::kRead);
  ASSERT_EQ(reads.size(), 1u);
  const AddressMap map;
  EXPECT_EQ(reads[0].packet.dst, kVaultEndpoint + map.stack_of(9) * 16 + map.vault_of(9));
  EXPECT_EQ(b.counters().issued(), 2u);
  EXPECT_EQ(b.counters().issued_threads(), 8u);
}

TEST(StackSide, EveryOffloadFindsAnEmptyCache) {
  StackBench b({load(1)});
  b.traces.run(b.head).run(b.body).at(0, 4).run(b.tail).end();
  b.build();
  b.request(kLatency, 5);
  b.request(kLatency + 200, 6);
  b.go();
  EXPECT_EQ(b.network->of(PacketKind::kRead).size(), 2u);
  EXPECT_EQ(b.state().l1.counters.flushes, 2u);
  EXPECT_EQ(b.state().l1.counters.read_hits, 0u);
  ASSERT_EQ(b.acks().size(), 2u);
  EXPECT_EQ(b.acks()[0].packet.tag, 5u);
  EXPECT_EQ(b.acks()[1].packet.tag, 6u);
}

TEST(StackSide, WithoutFlushesItFindsWhatTheLastOneLeft) {
  StackBench b({load(1)});
  b.offload.flush_l1 = false;
  b.traces.run(b.head).run(b.body).at(0, 4).run(b.tail).end();
  b.build();
  b.request(kLatency, 5);
  b.request(kLatency + 200, 6);
  b.go();
  EXPECT_EQ(b.network->of(PacketKind::kRead).size(), 1u);
  EXPECT_EQ(b.state().l1.counters.flushes, 0u);
  EXPECT_EQ(b.state().l1.counters.read_hits, 1u);
  EXPECT_EQ(b.acks().size(), 2u);
}

TEST(StackSide, DirtyLinesThenTheAcknowledgementAfterTheLastStore) {
  StackBench b({store(), store()}, 0);
  b.traces.run(b.head).run(b.body).at(0, 8).at(128, 4).run(b.tail).end();
  b.build();
  b.request(kLatency);
  b.go();
  // Three lines leave in cycles 2, 3 and 4; the last one's acknowledgement is there in cycle 62.
  const auto dirty = b.network->of(tom::kOffloadDirty);
  ASSERT_EQ(dirty.size(), 2u);  // line 1 was written twice
  EXPECT_EQ(dirty[0].at, kLatency + 62 + kLatency);
  EXPECT_EQ(dirty[1].at, kLatency + 63 + kLatency);
  EXPECT_EQ(dirty[0].packet.bytes, 8);
  EXPECT_EQ(dirty[0].packet.dst, kSmEndpoint);
  EXPECT_EQ(dirty[0].packet.line + dirty[1].packet.line, 1u);
  ASSERT_EQ(b.acks().size(), 1u);
  EXPECT_EQ(b.acks()[0].at, kLatency + 64 + kLatency);
  EXPECT_EQ(b.acks()[0].packet.bytes, 8);
}

TEST(StackSide, DirtyLinesBeyondTheMemoryGoEarly) {
  StackBench b({store()}, 0);
  b.offload.dirty_entries = 2;
  b.traces.run(b.head).run(b.body, 0x1f).at(0, 128).run(b.tail).end();
  b.build();
  b.request(kLatency);
  b.go();
  std::vector<std::pair<PacketKind, LineAddr>> sent;
  for (const auto& i : b.network->got) sent.emplace_back(i.packet.kind, i.packet.line);
  using K = PacketKind;
  // Lines 0 to 4: the third write pushes out line 0, the fourth line 1, the fifth line 2.
  const std::vector<std::pair<K, LineAddr>> expected = {
      {K::kWrite, 0},     {K::kWrite, 1}, {kOffloadDirty, 0}, {K::kWrite, 2},
      {kOffloadDirty, 1}, {K::kWrite, 3}, {kOffloadDirty, 2}, {K::kWrite, 4}};
  ASSERT_EQ(sent.size(), 11u);
  EXPECT_EQ((std::vector<std::pair<K, LineAddr>>(sent.begin(), sent.begin() + 8)), expected);
  EXPECT_EQ(sent[8].first, kOffloadDirty);
  EXPECT_EQ(sent[9].first, kOffloadDirty);
  EXPECT_EQ(sent[8].second + sent[9].second, 3u + 4);
  EXPECT_EQ(sent[10].first, kOffloadAck);
}

TEST(StackSide, ManyLinesOfOneWarpAreRemembered) {
  // 320 lines, more than a byte counts.
  constexpr uint32_t kStores = 10;
  StackBench b(std::vector<ImageInstr>(kStores, store()), 0);
  b.offload.dirty_entries = 1024;
  b.traces.run(b.head).run(b.body);
  for (uint32_t i = 0; i < kStores; ++i) b.traces.at(i * 32 * 128, 128);
  b.traces.run(b.tail).end();
  b.build();
  b.request(kLatency);
  b.go(3000);
  std::set<LineAddr> lines;
  for (const auto& i : b.network->of(tom::kOffloadDirty)) lines.insert(i.packet.line);
  EXPECT_EQ(b.network->of(tom::kOffloadDirty).size(), 32u * kStores);
  EXPECT_EQ(lines.size(), 32u * kStores);
  EXPECT_EQ(b.acks().size(), 1u);
}

TEST(StackSide, WholeLoopsRun) {
  StackBench b({load(1), branch({1})});
  b.traces.run(b.head).run(b.body, kFull, 3).at(0, 4).at(128, 4).at(256, 4);
  b.traces.run(b.body, 1).at(0, 4).run(b.tail).end();
  b.build();
  b.request(kLatency);
  b.go(1000);
  EXPECT_EQ(b.counters().issued(), 8u);
  EXPECT_EQ(b.counters().issued_threads(), 6 * 32u + 2);
  ASSERT_EQ(b.acks().size(), 1u);
}

TEST(StackSide, CandidateAtTheEndOfTheTrace) {
  StackBench b({load(1)});
  b.traces.run(b.head).run(b.body).at(0, 4).end();
  b.build();
  b.request(kLatency);
  b.go();
  ASSERT_EQ(b.acks().size(), 1u);
  EXPECT_EQ(b.acks()[0].packet.payload >> 32, sm::kEndOfTrace);
}

TEST(StackSide, ManyWarpsAtOnce) {
  StackBench b({load(1), alu(2, {1}), store({2})});
  b.traces.run(b.head).run(b.body).at(0, 4).at(4096, 4).run(b.tail).end();
  b.build();
  for (uint32_t i = 0; i < 48; ++i) b.request(kLatency + i, i);
  b.go(3000);
  ASSERT_EQ(b.acks().size(), 48u);
  EXPECT_EQ(b.counters().issued(), 48 * 3u);
  EXPECT_EQ(b.network->of(tom::kOffloadDirty).size(), 48u);
}

}  // namespace
}  // namespace nearwarp::tom
