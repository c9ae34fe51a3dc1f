// What does a service queue in an L2 slice do in each cycle? The test plays the slice's neighbours.
#include <numeric>

#include "device/mechanisms/opportunistic/mechanism.h"
#include "tests/memory/slice_rig.h"

namespace nearwarp::testing {
namespace {

using namespace opportunistic;

constexpr uint32_t kAlu = 4;  // latency of its arithmetic

struct ServiceRig : SliceRig {
  explicit ServiceRig(uint32_t entries = 8, uint32_t buffer = 4, uint32_t slots = 64,
                      bool write_back = false)
      : SliceRig(
            [=](L2SliceParams& p) {
              p.mshr_entries = 16;
              p.write_back = write_back ? 1 : 0;
            },
            slots, step_l2_slice<MechanismList<Mechanism>>) {
    const ServiceState q = make_service_queue(rig.arena, entries, buffer);
    const Ref<ServiceState> at = rig.arena.allocate<ServiceState>(1);
    *rig.arena.get(at) = q;
    const auto params = rig.arena.allocate<OnL2Slice::Params>(1);
    L2SliceState& slice = *rig.arena.get(state);
    slice.attached.bits = 1;
    slice.attached.state[0] = at.offset;
    slice.attached.params[0] = params.offset;
  }
  /// A chain arrives: operands, and a line to store to (0: its result comes back).
  void chain(uint32_t cycle, std::vector<uint32_t> operands, uint32_t store, uint32_t tag = 0,
             uint32_t alu = 1) {
    ComputeOrder o;
    o.operands = static_cast<uint8_t>(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) o.line[i] = operands[i];
    o.stores = store != 0;
    o.store_line = store;
    o.store_sectors = 15;
    o.store_whole = whole;
    o.alu_cycles = static_cast<uint8_t>(alu);
    o.latency_cycles = static_cast<uint16_t>(alu * kAlu);
    o.reply_bytes = store != 0 ? 8 : 136;
    Packet p = pack(o);
    p.src = Endpoint{7};
    p.dst = Endpoint{50};
    p.tag = tag;
    p.bytes = 32;
    sm_out->items.push_back({cycle * kPeriod - kHop, p, 0});
  }
  bool whole = true;  ///< chains store whole lines
  /// Memory acknowledges the store of entry `id`.
  void stored(uint32_t cycle, uint32_t id) {
    memory_out->items.push_back({cycle * kPeriod - kHop,
                                 make_packet(PacketKind::kWriteAck, 100, 50, 8, own_tag(0, id)),
                                 0});
  }
  /// Puts a line into the slice before the test begins.
  void has(uint32_t line) {
    l2_detail::preload(params, *rig.arena.get(state), rig.arena.base(),
                       l2_detail::set_of(params, rig.arena.base(), line), line, 0);
  }
  ServiceState& queue() {
    return *reinterpret_cast<ServiceState*>(rig.arena.base() +
                                            rig.arena.get(state)->attached.state[0]);
  }
  void run(Tick window = kHop) {
    rig.run({window}, 100000);
    EXPECT_TRUE(rig.drained());
    const L2SliceState& s = *rig.arena.get(state);
    EXPECT_EQ(s.fault.code, 0u);
    EXPECT_EQ(s.mshrs_in_use + s.request_count + s.reply_count, 0u);
    EXPECT_EQ(queue().in_use, 0u);
    EXPECT_EQ(queue().buffered, 0u);
    const ServiceCounters& n = queue().counters;
    EXPECT_EQ(n.taken, n.replies);
    EXPECT_EQ(std::accumulate(n.waits, n.waits + kNumServiceWaits, uint64_t{0}), n.cycles);
  }
  uint64_t waited(ServiceWait what) { return queue().counters.waits[static_cast<size_t>(what)]; }
};

TEST(ServiceQueue, PacketsSayWhatTheyWereTold) {
  ComputeOrder o;
  o.line[0] = 0xfedcba98;
  o.line[1] = 0x12345678;
  o.store_line = 0x9abcdef0;
  o.operands = 2;
  o.alu_cycles = 2;
  o.stores = true;
  o.store_sectors = 11;
  o.store_whole = true;
  o.latency_cycles = 8;
  o.reply_bytes = 136;
  const ComputeOrder p = unpack(pack(o));
  EXPECT_EQ(p.line[0], o.line[0]);
  EXPECT_EQ(p.line[1], o.line[1]);
  EXPECT_EQ(p.store_line, o.store_line);
  EXPECT_EQ(p.operands, 2);
  EXPECT_EQ(p.alu_cycles, 2);
  EXPECT_TRUE(p.stores);
  EXPECT_EQ(p.store_sectors, 11);
  EXPECT_TRUE(p.store_whole);
  o.store_whole = false;
  EXPECT_FALSE(unpack(pack(o)).store_whole);
  EXPECT_EQ(p.latency_cycles, 8);
  EXPECT_EQ(p.reply_bytes, 136);
}

TEST(ServiceQueue, OperandsInTheSlice) {
  ServiceRig r;
  r.has(4);
  r.has(9);
  r.chain(10, {4, 9}, 0, 77);
  r.run();
  // Looked up in cycles 11 and 12, there in 17; read in 17 and 18, there in 23; then the
  // arithmetic.
  const uint64_t ready = 12 + kLatency, read = ready + 1 + kLatency;
  EXPECT_EQ(r.replied(0), read + kAlu);
  const Packet& a = r.sm_in->items[0].packet;
  EXPECT_EQ(a.kind, kComputeReply);
  EXPECT_EQ(a.dst, 7u);
  EXPECT_EQ(a.tag, 77u);
  EXPECT_EQ(a.bytes, 136u);
  EXPECT_TRUE(r.memory_in->items.empty());
  EXPECT_EQ(r.queue().counters.operands, 2u);
  EXPECT_EQ(r.queue().counters.operands_read, 2u);
}

TEST(ServiceQueue, FetchesWhatTheSliceHasNotGot) {
  ServiceRig r;
  r.has(4);
  r.chain(10, {4, 9}, 0);
  r.fill(100, 0);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.memory_in->items[0].packet.line, 9u);
  EXPECT_EQ(r.asked(0), 12u + kLatency);
  // There in cycle 100; ready in the next one.
  EXPECT_EQ(r.replied(0), 101u + 1 + kLatency + kAlu);
}

TEST(ServiceQueue, AcknowledgesAStoreThatMemoryHas) {
  ServiceRig r;
  r.has(4);
  r.has(9);
  r.chain(10, {4, 9}, 6, 5);
  r.stored(200, 0);
  r.run();
  ASSERT_EQ(r.memory_in->items.size(), 1u);
  const Packet& w = r.memory_in->items[0].packet;
  EXPECT_EQ(w.kind, PacketKind::kWrite);
  EXPECT_EQ(w.line, 6u);
  EXPECT_EQ(w.src, 50u);
  EXPECT_EQ(w.sectors, 15u);
  EXPECT_EQ(w.bytes, 8u + 128);
  EXPECT_EQ(r.asked(0), 12u + kLatency + 1 + kLatency + kAlu + kLatency);
  EXPECT_EQ(r.replied(0), 200u);
  EXPECT_EQ(r.sm_in->items[0].packet.bytes, 8u);
  EXPECT_EQ(r.queue().counters.stores, 1u);
}

TEST(ServiceQueue, WhatAChainWaitsFor) {
  ServiceRig r;
  r.has(4);
  r.chain(10, {4, 9}, 6, 5);
  r.fill(100, 0);
  r.stored(200, 0);
  r.run();
  EXPECT_EQ(r.replied(0), 200u);
  // Looked up in cycles 11 and 12; 9 is there in 100, both are read in 101 and 102; the store is
  // looked up in the cycle in which the result is there.
  EXPECT_EQ(r.waited(ServiceWait::kTurn), 2u + 1u);
  EXPECT_EQ(r.waited(ServiceWait::kOperands), 100u - 12);
  EXPECT_EQ(r.waited(ServiceWait::kBuffer), 1u);
  EXPECT_EQ(r.waited(ServiceWait::kRead), kLatency);
  EXPECT_EQ(r.waited(ServiceWait::kAlu), kAlu);
  EXPECT_EQ(r.waited(ServiceWait::kStored), 200u - (102 + kLatency + kAlu));
  EXPECT_EQ(r.waited(ServiceWait::kReply), 0u);
}

TEST(ServiceQueue, AcknowledgesAStoreThatHasLeft) {
  ServiceRig r;
  r.queue().ack_forwarded = true;
  r.has(4);
  r.has(9);
  r.chain(10, {4, 9}, 6, 5);
  r.stored(200, 0);  // nothing waits for this
  r.run();
  const uint64_t looked_up = 12u + kLatency + 1 + kLatency + kAlu;
  EXPECT_EQ(r.asked(0), looked_up + kLatency);
  EXPECT_EQ(r.replied(0), looked_up + 1);
  EXPECT_EQ(r.waited(ServiceWait::kStored), 0u);
}

TEST(ServiceQueue, ASliceThatKeepsLinesAcknowledgesTheStoreItself) {
  ServiceRig r(8, 4, 64, true);
  r.has(4);
  r.has(9);
  r.chain(10, {4, 9}, 6, 5);
  r.run();
  EXPECT_TRUE(r.memory_in->items.empty());
  // Looked up when the result is there; in the slice after its latency.
  const uint64_t looked_up = 12u + kLatency + 1 + kLatency + kAlu;
  EXPECT_EQ(r.replied(0), looked_up + kLatency);
  EXPECT_EQ(r.sm_in->items[0].packet.bytes, 8u);
  EXPECT_EQ(r.waited(ServiceWait::kStored), kLatency);
  EXPECT_EQ(r.counters().write_allocates, 1u);
  EXPECT_EQ(r.counters().lines_dirtied, 1u);
}

TEST(ServiceQueue, AndOneThatHasLeftIsNotWaitedForThereEither) {
  ServiceRig r(8, 4, 64, true);
  r.queue().ack_forwarded = true;
  r.has(4);
  r.has(9);
  r.chain(10, {4, 9}, 6, 5);
  r.run();
  EXPECT_EQ(r.replied(0), 12u + kLatency + 1 + kLatency + kAlu + 1);
  EXPECT_EQ(r.waited(ServiceWait::kStored), 0u);
}

TEST(ServiceQueue, AStoreOfAPartIsAcknowledgedByMemoryThere) {
  ServiceRig r(8, 4, 64, true);
  r.whole = false;
  r.has(4);
  r.has(9);
  r.chain(10, {4, 9}, 6, 5);
  r.stored(200, 0);
  r.run();
  EXPECT_EQ(r.memory_in->items.size(), 1u);
  EXPECT_EQ(r.replied(0), 200u);
  EXPECT_EQ(r.counters().writes_through, 1u);
}

TEST(ServiceQueue, ACopyNeedsNoArithmetic) {
  ServiceRig r;
  r.has(4);
  r.chain(10, {4}, 6, 5, 0);
  r.stored(200, 0);
  r.run();
  EXPECT_EQ(r.asked(0), 11u + kLatency + kLatency + kLatency);
  EXPECT_EQ(r.queue().counters.alu_cycles, 0u);
}

TEST(ServiceQueue, WhenFullTheOperandsGoToTheSm) {
  ServiceRig r(1);
  r.has(4);
  r.has(9);
  r.chain(10, {8, 9}, 0, 1);  // 8 is not there: it stays
  r.chain(11, {4, 9}, 0, 2);
  r.fill(300, 0);
  r.run();
  ASSERT_EQ(r.sm_in->items.size(), 3u);
  for (const size_t i : {0, 1}) {
    const Packet& p = r.sm_in->items[i].packet;
    EXPECT_EQ(p.kind, kOperandReply);
    EXPECT_EQ(p.tag, 2u);
    EXPECT_EQ(p.dst, 7u);
    EXPECT_EQ(p.bytes, 136u);
  }
  EXPECT_EQ(r.sm_in->items[0].packet.line, 4u);
  EXPECT_EQ(r.sm_in->items[1].packet.line, 9u);
  EXPECT_EQ(r.sm_in->items[2].packet.tag, 1u);
  EXPECT_EQ(r.queue().counters.taken, 1u);
  EXPECT_EQ(r.queue().counters.refused, 1u);
  EXPECT_EQ(r.counters().requests_in, 2u);
}

TEST(ServiceQueue, TheBufferHoldsBackWhatIsReady) {
  // A buffer of one entry has chains read one after the other; with four, reads follow at once.
  uint64_t last[2];
  for (const uint32_t buffer : {1u, 4u}) {
    ServiceRig r(8, buffer);
    r.has(4);
    for (uint32_t i = 0; i < 4; ++i) r.chain(10 + i, {4}, 0, i);
    r.run();
    ASSERT_EQ(r.sm_in->items.size(), 4u);
    for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(r.sm_in->items[i].packet.tag, i);
    last[buffer == 4] = r.replied(3);
  }
  // The first chain's operand is there in cycle 16, in which the last packet has its turn, and is
  // read in 17. Each other chain's is read when the one before has left the buffer.
  EXPECT_EQ(last[0], 17u + 4 * kLatency + kAlu);
  EXPECT_LT(last[1], last[0]);
}

TEST(ServiceQueue, OperandsNeedNoWayOut) {
  // Two replies fill the reply channel until cycle 1000. The operand that two chains lack comes in
  // cycle 100 and serves one chain then, the other in the next cycle. Their results go to memory
  // all the same.
  for (const Tick window : {Tick{kHop}, Tick{7}, Tick{1}}) {
    ServiceRig r(8, 4, 2);
    r.sm_in->from = 1000 * kPeriod;
    r.has(4);
    r.chain(10, {4, 9}, 6, 5);
    r.chain(11, {4, 9}, 7, 6);
    for (uint32_t i = 0; i < 4; ++i) r.read(20 + i, 4, 100 + i);
    r.fill(100, 0);
    r.stored(200, 0);
    r.stored(201, 1);
    r.run(window);
    ASSERT_EQ(r.memory_in->items.size(), 3u) << window;
    // The second chain is ready when the first one's operands are being read.
    EXPECT_EQ(r.asked(1), 101u + 1 + kLatency + kAlu + kLatency) << window;
    EXPECT_EQ(r.asked(2), 101u + 3 + kLatency + kAlu + kLatency) << window;
  }
}

TEST(ServiceQueue, OrdinaryRequestsTakeTurnsWithIt) {
  ServiceRig r;
  r.has(4);
  for (uint32_t i = 0; i < 4; ++i) r.chain(10, {4}, 0, i);
  for (uint32_t i = 0; i < 8; ++i) r.read(14, 4, 100 + i);
  r.run();
  EXPECT_EQ(r.sm_in->items.size(), 12u);
  EXPECT_EQ(r.counters().read_hits, 8u + 2 * 4);
}

}  // namespace
}  // namespace nearwarp::testing
