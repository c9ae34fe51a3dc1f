// What does the service queue of an SM do in each cycle? The test plays its neighbours.
#include <gtest/gtest.h>

#include <numeric>

#include "device/mechanisms/opportunistic/mechanism.h"
#include "device/sm/make_sm.h"
#include "device/sm/sm.h"
#include "tests/support/rig.h"

namespace nearwarp::testing::sm_service_test {
namespace {

using namespace opportunistic;

constexpr Tick kHop = 20;
constexpr uint16_t kSm = 3, kOther = 7;  // endpoints: this SM, and the one that sends chains
constexpr uint32_t kShared = 26;         // latency of shared memory
constexpr uint32_t kAlu = 4;             // latency of an instruction

/// An SM with a service queue. A cycle is a tick; line l is served by endpoint 100 + l % 4.
struct SmServiceRig {
  using Mechanisms = sm::MechanismList<opportunistic::Mechanism>;

  Rig rig;
  sm::SmParams params;
  Ref<sm::SmState> state;
  Ref<SmService> service;
  std::shared_ptr<MockProducer> chains, replies;
  std::shared_ptr<MockConsumer> requests, answers;

  explicit SmServiceRig(uint32_t entries = 8, uint32_t buffer = 4, bool own_alu = false,
                        uint32_t interval = 1, uint32_t request_slots = 64) {
    ArenaBuilder& a = rig.arena;
    params.num_warps = 4;
    params.num_blocks = 1;
    params.slots_per_warp = 4;
    params.shared_latency = kShared;
    params.homes = {a.allocate<Endpoint>(4), 4};
    for (uint16_t v = 0; v < 4; ++v) a.get(params.homes.endpoints)[v] = endpoint_of(100 + v);
    params.map.baseline.stack_bits = 0;
    params.map.baseline.vault_bits = 2;
    params.map.baseline.slice_bits = 0;
    params.map.baseline.hash = 0;
    const ChannelSpec wire{64, kHop, kHop, 0, 1};
    const auto to_slices = rig.channel({request_slots, kHop, kHop, 0, 1});
    const auto from_slices = rig.channel(wire), arrivals = rig.channel(wire),
               to_others = rig.channel(wire);
    SmService q = opportunistic::make_sm_service(a, entries, buffer, interval, own_alu);
    q.arrivals = arrivals;
    q.answers = to_others;
    service = place(q);
    opportunistic::SmSideState<1> side;
    side.warps = a.allocate<opportunistic::WarpSide>(params.num_warps);
    side.service = service;
    sm::SmState s = sm::make_sm<1>(a, params);
    s.endpoint = endpoint_of(kSm);
    s.to_network = to_slices;
    s.from_network = from_slices;
    s.attached = s.own_channels = 1;
    s.mechanism_state[0] = place(side).offset;
    s.mechanism_params[0] = place(opportunistic::SmSideParams{}).offset;
    state = place(s);
    rig.add(
        [this](std::byte* base, Window w, Horizon& h) {
          sm::SystemView view;
          view.arena = base;
          return sm::step_sm<Mechanisms>(params, *state.in(base), view, w, h);
        },
        {from_slices, arrivals});
    chains = rig.producer(arrivals);
    replies = rig.producer(from_slices);
    requests = rig.consumer(to_slices);
    answers = rig.consumer(to_others);
  }
  template <class T>
  Ref<T> place(const T& value) {
    const Ref<T> ref = rig.arena.allocate<T>(1);
    *rig.arena.get(ref) = value;
    return ref;
  }
  SmService& queue() { return *rig.arena.get(service); }

  /// A chain arrives in `cycle`; `store`: the line of its result (0: that comes back).
  void chain(uint32_t cycle, std::vector<uint32_t> operands, uint32_t store, uint32_t tag = 0,
             uint32_t alu = 1) {
    ComputeOrder o;
    o.operands = static_cast<uint8_t>(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) o.line[i] = operands[i];
    o.stores = store != 0;
    o.store_line = store;
    o.store_sectors = 15;
    o.alu_cycles = static_cast<uint8_t>(alu);
    o.latency_cycles = static_cast<uint16_t>(alu * kAlu);
    o.reply_bytes = store != 0 ? 8 : 136;
    Packet p = pack(o);
    p.src = endpoint_of(kOther);
    p.dst = endpoint_of(kSm);
    p.tag = tag;
    p.bytes = 32;
    chains->items.push_back({cycle - kHop, p, 0});
  }
  /// An operand of entry `id` arrives.
  void operand(uint32_t cycle, uint32_t id) {
    replies->items.push_back(
        {cycle - kHop, make_packet(kOperandReply, 100, kSm, 136, kServiceTag | id), 0});
  }
  /// The result of entry `id` is in memory.
  void stored(uint32_t cycle, uint32_t id) {
    replies->items.push_back(
        {cycle - kHop, make_packet(PacketKind::kWriteAck, 100, kSm, 8, sm::kOwnStoreTag | id), 0});
  }
  void run(const RunOptions& options = {}) {
    rig.run(options, 100000);
    EXPECT_TRUE(rig.drained());
    EXPECT_EQ(queue().in_use, 0u);
    EXPECT_EQ(queue().buffered, 0u);
    const ServiceCounters& n = queue().counters;
    EXPECT_EQ(n.taken, n.replies);
    EXPECT_EQ(std::accumulate(n.waits, n.waits + kNumServiceWaits, uint64_t{0}), n.cycles);
  }
  uint64_t waited(ServiceWait what) { return queue().counters.waits[static_cast<size_t>(what)]; }
  /// Cycle in which the i-th packet left, and the packet.
  Tick asked(size_t i) const { return requests->items.at(i).at - kHop; }
  const Packet& request(size_t i) const { return requests->items.at(i).packet; }
  Tick answered(size_t i) const { return answers->items.at(i).at - kHop; }
  const Packet& answer(size_t i) const { return answers->items.at(i).packet; }
};

TEST(SmService, AChainFromPacketToAcknowledgement) {
  for (const Tick window : {Tick{1}, Tick{7}, kHop}) {
    SmServiceRig r;
    r.chain(100, {5, 6}, 7, 33);
    r.operand(200, 0);
    r.operand(210, 0);
    r.stored(400, 0);
    RunOptions options;
    options.window = window;
    r.run(options);
    ASSERT_EQ(r.requests->items.size(), 3u);
    // Its reads leave in the next cycles, for the slices of their lines.
    EXPECT_EQ(r.asked(0), 101u);
    EXPECT_EQ(r.asked(1), 102u);
    for (uint32_t i = 0; i < 2; ++i) {
      EXPECT_EQ(r.request(i).kind, kOperandRead);
      EXPECT_EQ(r.request(i).line, 5 + i);
      EXPECT_EQ(r.request(i).dst, 100 + (5 + i) % 4);
      EXPECT_EQ(r.request(i).src, kSm);
    }
    // An operand is written in the cycle after it has come; both are read in the two cycles after
    // that, and the second one arrives a shared memory's latency later. The ALU is idle.
    const Tick read = 210 + 1 + 2;
    const Tick computed = read + kShared + kAlu;
    EXPECT_EQ(r.asked(2), computed + 1);
    EXPECT_EQ(r.request(2).kind, PacketKind::kWrite);
    EXPECT_EQ(r.request(2).line, 7u);
    EXPECT_EQ(r.request(2).bytes, 8 + 4 * 32);
    ASSERT_EQ(r.answers->items.size(), 1u);
    EXPECT_EQ(r.answered(0), 400u);
    EXPECT_EQ(r.answer(0).kind, kComputeReply);
    EXPECT_EQ(r.answer(0).dst, kOther);
    EXPECT_EQ(r.answer(0).tag, 33u);
    EXPECT_EQ(r.queue().counters.cycles, 300u);
  }
}

TEST(SmService, WhatAChainWaitsFor) {
  SmServiceRig r;
  r.chain(100, {5, 6}, 7, 33);
  r.operand(200, 0);
  r.operand(210, 0);
  r.stored(400, 0);
  r.run();
  EXPECT_EQ(r.waited(ServiceWait::kTurn), 2u + 2u + 1u);  // two reads, two operands, a store
  EXPECT_EQ(r.waited(ServiceWait::kOperands), 210u - 102);
  EXPECT_EQ(r.waited(ServiceWait::kBuffer), 0u);
  EXPECT_EQ(r.waited(ServiceWait::kRead), kShared + 1);
  EXPECT_EQ(r.waited(ServiceWait::kAlu), kAlu);
  EXPECT_EQ(r.waited(ServiceWait::kStored), 400u - r.asked(2));
  EXPECT_EQ(r.waited(ServiceWait::kReply), 0u);
}

TEST(SmService, AcknowledgesAStoreThatHasLeft) {
  SmServiceRig r;
  r.queue().ack_forwarded = true;
  r.chain(100, {5, 6}, 7, 33);
  r.operand(200, 0);
  r.operand(210, 0);
  r.stored(400, 0);  // nothing waits for this
  r.run();
  EXPECT_EQ(r.answered(0), r.asked(2));
  EXPECT_EQ(r.waited(ServiceWait::kStored), 0u);
}

TEST(SmService, SendsBackAllThatItHasNoRoomFor) {
  SmServiceRig r(1);
  r.queue().sends_back = true;
  r.chain(100, {4}, 0, 1);
  r.chain(101, {5, 6}, 0, 2);
  r.operand(300, 0);
  r.run();
  EXPECT_EQ(r.requests->items.size(), 1u);
  ASSERT_EQ(r.answers->items.size(), 2u);
  EXPECT_EQ(r.answer(0).kind, kComputeRefusal);
  EXPECT_EQ(r.answer(0).tag, 2u);
  EXPECT_EQ(r.answered(0), 101u);
  EXPECT_EQ(r.queue().counters.refused, 0u);
  EXPECT_EQ(r.queue().turned_away, 1u);
}

TEST(SmService, AResultThatComesBack) {
  SmServiceRig r;
  r.chain(100, {5, 6}, 0, 33);
  r.operand(200, 0);
  r.operand(210, 0);
  r.run();
  ASSERT_EQ(r.answers->items.size(), 1u);
  EXPECT_EQ(r.answered(0), 210 + 3 + kShared + kAlu);
  EXPECT_EQ(r.answer(0).bytes, 136u);
  EXPECT_EQ(r.requests->items.size(), 2u);
}

TEST(SmService, ACopyNeedsNoAlu) {
  SmServiceRig r;
  for (uint32_t& at : r.rig.arena.get(r.state)->ports[0].free_at) at = 5000;
  r.chain(100, {5}, 6, 1, 0);
  r.operand(200, 0);
  r.stored(400, 0);
  r.run();
  EXPECT_EQ(r.asked(1), 200 + 2 + kShared + 1);
  EXPECT_EQ(r.queue().alu_waits, 0u);
}

TEST(SmService, WaitsWhileTheSmUsesItsAlus) {
  SmServiceRig r;
  uint32_t* ports = r.rig.arena.get(r.state)->ports[static_cast<uint32_t>(sm::Unit::kSp)].free_at;
  ports[0] = 300;
  ports[1] = 310;
  r.chain(100, {5, 6}, 0);
  r.operand(200, 0);
  r.operand(210, 0);
  r.run();
  EXPECT_EQ(r.answered(0), 300 + kAlu);
  EXPECT_EQ(r.queue().alu_waits, 300 - (213 + kShared));
  EXPECT_EQ(r.queue().counters.alu_cycles, 1u);
}

TEST(SmService, TwoInstructionsAskForTheAluEachByItself) {
  SmServiceRig r;
  r.chain(100, {5, 6}, 0, 0, 2);
  r.operand(200, 0);
  r.operand(210, 0);
  r.run();
  EXPECT_EQ(r.answered(0), 213 + kShared + 2 * kAlu);
  EXPECT_EQ(r.queue().counters.alu_cycles, 2u);
}

TEST(SmService, AnAluOfItsOwn) {
  SmServiceRig r(8, 4, true, 4);  // eight lanes
  for (uint32_t& at : r.rig.arena.get(r.state)->ports[0].free_at) at = 5000;
  r.chain(100, {5, 6}, 0, 0, 2);
  r.operand(200, 0);
  r.operand(210, 0);
  r.run();
  EXPECT_EQ(r.answered(0), 213 + kShared + 2 * kAlu + 2 * 3);
  EXPECT_EQ(r.queue().counters.alu_cycles, 8u);
}

TEST(SmService, SharesThePortOfSharedMemory) {
  SmServiceRig r;
  r.rig.arena.get(r.state)->lsu_busy_until = 500;
  r.chain(100, {5}, 0);
  r.operand(200, 0);
  r.run();
  // Written in cycle 500, read in the next one.
  EXPECT_EQ(r.answered(0), 501 + kShared + kAlu);
  EXPECT_EQ(r.rig.arena.get(r.state)->lsu_busy_until, 502u);
  EXPECT_EQ(r.rig.arena.get(r.state)->counters.shared_accesses, 2u);
}

TEST(SmService, ReadsForTheBufferWaitForAPlaceInIt) {
  Tick last[2] = {};
  for (uint32_t k = 0; k < 2; ++k) {
    SmServiceRig r(8, k == 0 ? 1 : 4);
    for (uint32_t i = 0; i < 4; ++i) r.chain(100 + i, {4 * i}, 0, i);
    for (uint32_t i = 0; i < 4; ++i) r.operand(200 + i, i);
    r.run();
    ASSERT_EQ(r.answers->items.size(), 4u);
    last[k] = r.answered(3);
  }
  EXPECT_EQ(last[1], 203 + 1 + 4 + kShared + kAlu);
  // A buffer of one entry: the next data is read two cycles after the entry has become free.
  EXPECT_EQ(last[0], 203 + 1 + 1 + kShared + 3 * (kShared + 2) + kAlu);
}

TEST(SmService, SendsForOperandsOfAChainThatFindsItFull) {  // scenario 3
  SmServiceRig r(1);
  r.chain(100, {4}, 0, 1);
  r.chain(101, {5, 6}, 0, 2);
  r.chain(200, {8}, 0, 3);
  r.operand(300, 0);
  r.run();
  ASSERT_EQ(r.requests->items.size(), 4u);
  for (uint32_t i = 1; i < 3; ++i) {
    EXPECT_EQ(r.asked(i), 101 + i);
    EXPECT_EQ(r.request(i).kind, kOperandRead);
    EXPECT_EQ(r.request(i).line, 4 + i);
    EXPECT_EQ(r.request(i).src, kOther);  // data goes there
    EXPECT_EQ(r.request(i).tag, 2u);
  }
  EXPECT_EQ(r.request(3).src, kOther);
  EXPECT_EQ(r.queue().counters.taken, 1u);
  EXPECT_EQ(r.queue().counters.refused, 2u);
  EXPECT_EQ(r.queue().turned_away, 0u);
}

TEST(SmService, SendsBackWhatNobodyCanSendFor) {
  // The request network has room for one packet until cycle 1000. Chains are taken from their
  // network all the same; else they would block chains on their way to other SMs.
  SmServiceRig r(1, 1, false, 1, 1);
  r.requests->from = 1000;
  for (uint32_t i = 0; i < 6; ++i) r.chain(100 + 10 * i, {4, 5}, 0, i);
  r.operand(1500, 0);
  r.operand(1501, 0);
  r.run();
  ASSERT_EQ(r.answers->items.size(), 5u);
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(r.answer(i).kind, kComputeRefusal);
    EXPECT_EQ(r.answer(i).tag, 2 + i);
    EXPECT_EQ(r.answer(i).dst, kOther);
    EXPECT_EQ(r.answered(i), 120 + 10 * i);
  }
  EXPECT_EQ(r.answer(4).kind, kComputeReply);
  EXPECT_EQ(r.queue().counters.refused, 1u);
  EXPECT_EQ(r.queue().turned_away, 4u);
  EXPECT_EQ(r.requests->items.size(), 4u);  // the operands of the first and the second chain
}

TEST(SmService, TheSameWhateverTheWindows) {
  std::vector<Tick> expected;
  for (const Tick window : {Tick{1}, Tick{3}, Tick{13}, kHop}) {
    SmServiceRig r(3, 1, false, 1, 2);
    for (uint32_t i = 0; i < 20; ++i) r.chain(100 + 9 * i, {i, i + 1}, i % 3 == 0 ? 90 + i : 0, i);
    for (uint32_t k = 0; k < 2; ++k)
      for (uint32_t id = 0; id < 3; ++id) r.operand(400 + 5 * id + k, id);
    for (uint32_t id = 0; id < 3; ++id) r.stored(900 + id, id);
    RunOptions options;
    options.window = window;
    options.order_seed = static_cast<uint32_t>(window);
    r.rig.run(options, 5000);
    std::vector<Tick> times;
    for (const auto& i : r.requests->items) times.push_back(i.at);
    for (const auto& i : r.answers->items) times.push_back(i.at);
    if (expected.empty()) expected = times;
    EXPECT_EQ(times, expected) << window;
    EXPECT_GT(times.size(), 20u);
  }
}

}  // namespace
}  // namespace nearwarp::testing::sm_service_test
