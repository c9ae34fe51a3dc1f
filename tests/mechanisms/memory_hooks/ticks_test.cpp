// Are the hooks of an L2 slice and of a vault called at the right ticks? The test plays the
// neighbours: packets, a mechanism's own requests, its timer and replies, turns with others.
#include "tests/mechanisms/memory_hooks/line_reader.h"
#include "tests/memory/slice_rig.h"
#include "tests/memory/vault_rig.h"

namespace nearwarp::testing::memory_hooks_test {
namespace {

using line_reader::kAnswer;
using line_reader::kQuestion;
using line_reader::Mechanism;
using Reader = line_reader::Hooks;

constexpr uint32_t kThinks = 3;

/// Stands for mechanism number 0, which is not attached, so that the mechanism is number 1.
struct Absent {
  static constexpr uint32_t kPacketBlock = 204;
  using OnL2Slice = Reader;
  using OnVault = Reader;
};
using List = MechanismList<Absent, Mechanism>;

template <class C>
void attach(Rig& rig, C& component, bool writes) {
  const auto state = rig.arena.allocate<Reader::State>(1);
  const auto params = rig.arena.allocate<Reader::Params>(1);
  *rig.arena.get(state) = {};
  *rig.arena.get(params) = {.cycles = kThinks, .writes = writes};
  component.attached.bits = 2;
  component.attached.state[1] = state.offset;
  component.attached.params[1] = params.offset;
}

struct ReadingSlice : SliceRig {
  explicit ReadingSlice(bool writes = false) : SliceRig({}, 16, step_l2_slice<List>) {
    L2SliceState s = *rig.arena.get(state);
    attach(rig, s, writes);
    *rig.arena.get(state) = s;
  }
  void ask(uint32_t cycle, uint32_t line, uint32_t tag) {
    sm_out->items.push_back(
        {cycle * kPeriod - kHop, make_packet(kQuestion, 7, 50, 8, tag, line), 0});
  }
  void has(uint32_t line) {
    l2_detail::preload(params, *rig.arena.get(state), rig.arena.base(),
                       l2_detail::set_of(params, rig.arena.base(), line), line, 0);
  }
  void run_all() {
    rig.run({kHop}, 100000);
    EXPECT_TRUE(rig.drained());
    EXPECT_EQ(rig.arena.get(state)->fault.code, 0u);
    EXPECT_EQ(rig.arena.get(state)->mshrs_in_use, 0u);
  }
  const Packet& answer(size_t i) { return sm_in->items.at(i).packet; }
};

TEST(SliceHooks, AReadThatHits) {
  ReadingSlice r;
  r.has(4);
  r.ask(10, 4, 77);
  r.run_all();
  // Taken in cycle 10, looked up in the next one.
  EXPECT_EQ(r.replied(0), 11 + kLatency + kThinks);
  EXPECT_EQ(r.answer(0).kind, kAnswer);
  EXPECT_EQ(r.answer(0).tag, 77u);
  EXPECT_EQ(r.answer(0).dst, 7u);
  EXPECT_EQ(r.answer(0).src, 50u);
  EXPECT_EQ(r.counters().reads, 1u);
  EXPECT_EQ(r.counters().read_hits, 1u);
}

TEST(SliceHooks, AReadThatMisses) {
  ReadingSlice r;
  r.ask(10, 4, 77);
  r.fill(100, 0);
  r.run_all();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.asked(0), 11 + kLatency);
  EXPECT_EQ(r.replied(0), 100 + kThinks);
}

TEST(SliceHooks, AWriteIsAcknowledgedByMemory) {
  ReadingSlice r(true);
  r.ask(10, 4, 77);
  r.memory_out->items.push_back(
      {100 * kPeriod - kHop, make_packet(PacketKind::kWriteAck, 100, 50, 8, own_tag(1, 77)), 0});
  r.run_all();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.memory_in->items[0].packet.kind, PacketKind::kWrite);
  EXPECT_EQ(r.memory_in->items[0].packet.bytes, 8 + 32);
  EXPECT_EQ(r.replied(0), 100 + kThinks);
}

TEST(SliceHooks, LookUpsTakeTurns) {
  ReadingSlice r;
  r.has(4);
  r.has(5);
  r.ask(10, 4, 77);
  r.read(11, 5, 1);
  r.read(12, 5, 2);
  r.run_all();
  // The question was the network's turn; the mechanism's own request goes before the first read.
  ASSERT_EQ(r.sm_in->items.size(), 3u);
  EXPECT_EQ(r.answer(0).tag, 1u);
  EXPECT_EQ(r.replied(0), 12 + kLatency);
  EXPECT_EQ(r.replied(1), 13 + kLatency);
  EXPECT_EQ(r.answer(2).kind, kAnswer);
  EXPECT_EQ(r.replied(2), 11 + kLatency + kThinks);
}

TEST(SliceHooks, APacketThatIsNotTakenWaits) {
  ReadingSlice r;
  r.has(4);
  r.ask(10, 4, 1);
  r.ask(11, 4, 2);
  r.run_all();
  const uint64_t first = 11 + kLatency + kThinks;
  EXPECT_EQ(r.replied(0), first);
  // Replies come before look-ups in a cycle: the second question is taken when the first is
  // answered.
  EXPECT_EQ(r.replied(1), first + 1 + kLatency + kThinks);
}

TEST(SliceHooks, APacketOfNobodyIsAFault) {
  SliceRig r({}, 16, step_l2_slice<List>);
  r.sm_out->items.push_back({10 * kPeriod - kHop, make_packet(kQuestion, 7, 50, 8, 1, 4), 0});
  r.rig.run({kHop}, 1000);
  EXPECT_NE(r.rig.arena.get(r.state)->fault.code, 0u);
}

TEST(SliceHooks, AnAcknowledgementForAMechanismThatIsNotThereIsAFault) {
  const auto fault_of = [](uint32_t tag) {
    ReadingSlice r(true);
    r.memory_out->items.push_back(
        {10 * kPeriod - kHop, make_packet(PacketKind::kWriteAck, 100, 50, 8, tag), 0});
    r.rig.run({kHop}, 1000);
    return r.rig.arena.get(r.state)->fault.code;
  };
  EXPECT_EQ(fault_of(0), 0u);
  EXPECT_NE(fault_of(own_tag(0, 77)), 0u);  // the one attached has number 1
  EXPECT_NE(fault_of(77), 0u);
}

struct ReadingVault : VaultRig {
  explicit ReadingVault(bool writes = false, std::function<void(VaultRig&)> adjust = {})
      : VaultRig(std::move(adjust), 16, 64, step_vault<List>) {
    VaultState s = vault();
    attach(rig, s, writes);
    vault() = s;
  }
  void ask(uint32_t cycle, uint32_t at, uint32_t tag) {
    in->items.push_back({cycle * kPeriod - hop, make_packet(kQuestion, 3, 0, 8, tag, at), 0});
  }
  const Packet& answer(size_t i) { return out->items.at(i).packet; }
};

TEST(VaultHooks, AReadIsOneOfTheQueue) {
  ReadingVault r;
  r.ask(10, r.line(1, 2), 77);
  r.run();
  // Taken in cycle 10, its read enters the queue in the next one; the answer leaves in the cycle
  // after that in which it is ready.
  EXPECT_EQ(r.left(0), 11 + kMiss + kThinks + 1);
  EXPECT_EQ(r.answer(0).kind, kAnswer);
  EXPECT_EQ(r.answer(0).tag, 77u);
  EXPECT_EQ(r.answer(0).dst, 3u);
  EXPECT_EQ(r.counters().reads, 1u);
  EXPECT_EQ(r.counters().row_misses, 1u);
  EXPECT_EQ(r.counters().data_bytes_read, 40u);
}

TEST(VaultHooks, AWriteHasEndedWhenItsCommandIssues) {
  ReadingVault r(true);
  r.ask(10, r.line(1, 2), 77);
  r.run();
  // Its activation in cycle 12, the write tRCD later.
  EXPECT_EQ(r.left(0), 12 + 11 + kThinks + 1);
  EXPECT_EQ(r.counters().writes, 1u);
  EXPECT_EQ(r.counters().write_commands, 1u);
}

TEST(VaultHooks, RequestsTakeTurns) {
  ReadingVault r;
  r.ask(10, r.line(1, 2), 77);
  r.read(11, r.line(1, 2, 1), 1);
  r.run();
  // The mechanism's read enters in cycle 11, that of the network in 12, and is a hit behind it.
  ASSERT_EQ(r.out->items.size(), 2u);
  EXPECT_EQ(r.counters().row_misses, 1u);
  EXPECT_EQ(r.counters().row_hits, 1u);
  EXPECT_EQ(r.left(0), 11 + kMiss + 4);
  // Its answer is ready then, too, behind a reply that was on its way before.
  EXPECT_EQ(r.answer(1).kind, kAnswer);
  EXPECT_EQ(r.left(1), 11 + kMiss + 4 + 1);
}

TEST(VaultHooks, AWaitingWriteAnswersItsReadToo) {
  ReadingVault r(false, [](VaultRig& v) {
    v.params.forward_writes = 1;
    v.params.sector_bytes = 40;
    v.params.write_low = 4;
    v.params.write_high = 8;
  });
  r.read(9, r.line(3, 1), 5);  // so that the write waits
  r.write(10, r.line(1, 2), 6);
  r.ask(11, r.line(1, 2), 77);
  r.run();
  EXPECT_EQ(r.counters().forwarded_reads, 1u);
  ASSERT_EQ(r.out->items.size(), 3u);
  EXPECT_EQ(r.answer(0).kind, kAnswer);
  EXPECT_EQ(r.left(0), 12u + 1 + kThinks + 1);
}

TEST(VaultHooks, APacketOfNobodyIsAFault) {
  VaultRig r({}, 16, 64, step_vault<List>);
  r.in->items.push_back({10 * kPeriod - r.hop, make_packet(kQuestion, 3, 0, 8, 1, 0), 0});
  r.rig.run({r.hop}, 1000);
  EXPECT_NE(r.vault().fault.code, 0u);
}

}  // namespace
}  // namespace nearwarp::testing::memory_hooks_test
