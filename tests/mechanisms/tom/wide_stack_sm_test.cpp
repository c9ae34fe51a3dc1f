// Does every slot of a stack SM of more than 64 warps work, whichever word of a set it is in?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/mechanisms/tom/stack_bench.h"

namespace nearwarp::tom {
namespace {

using namespace nearwarp::testing;

constexpr uint32_t kWarps = 192;
using WideBench = StackBenchOf<sm::kWideWords>;

std::set<uint32_t> tags(const std::vector<MockMemory::Item>& items, size_t from) {
  std::set<uint32_t> t;
  for (size_t i = from; i < items.size(); ++i) t.insert(items[i].packet.tag);
  return t;
}

TEST(WideStackSm, EverySlotIsFilledFreedAndRefilled) {
  WideBench b({load(1), alu(2, {1}), store({2})});
  b.params.num_warps = kWarps;
  b.network->latency = 400;
  b.traces.run(b.head).run(b.body).at(0, 4).at(4096, 4).run(b.tail).end();
  b.build();
  constexpr Tick kRound = 6000;
  for (uint32_t round = 0; round < 3; ++round)
    for (uint32_t i = 0; i < kWarps; ++i) b.request(kLatency + round * kRound + i, kWarps - 1 - i);
  for (uint32_t round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const Tick at = kLatency + round * kRound;
    b.run_logged(at + kWarps);
    EXPECT_FALSE(b.state().free_warps.any());
    EXPECT_EQ(b.state().num_block_order, kWarps);
    for (uint32_t i = 0; i < kWarps; ++i) {
      EXPECT_EQ(b.warp(i).phase, sm::Phase::kRunning) << i;
      EXPECT_EQ(b.warp_side(i).requester_warp, kWarps - 1 - i);
      EXPECT_EQ(b.warp(i).block_slot, i);
    }
    b.go(at + kRound - kLatency);
    EXPECT_EQ(b.state().num_block_order, 0u);
    ASSERT_EQ(b.acks().size(), (round + 1) * kWarps);
    EXPECT_EQ(tags(b.acks(), round * kWarps).size(), kWarps);
    const auto dirty = b.network->of(tom::kOffloadDirty);
    ASSERT_EQ(dirty.size(), (round + 1) * kWarps);
    EXPECT_EQ(tags(dirty, round * kWarps).size(), kWarps);
    EXPECT_EQ(b.counters().issued(), (round + 1) * kWarps * 3);
    EXPECT_EQ(b.counters().warps_finished, (round + 1) * kWarps);
  }
}

TEST(WideStackSm, TimersOfEveryWord) {
  // Odd latencies: a cycle's two instructions belong to different schedulers.
  for (const uint32_t latency : {101u, 191u, 259u}) {  // the wheel has 64 slots
    WideBench b({alu(1, {}, latency), alu(2, {1}, latency)});
    b.params.num_warps = kWarps;
    b.traces.run(b.head).run(b.body).run(b.tail).end();
    b.build();
    for (uint32_t i = 0; i < kWarps; ++i) b.request(kLatency + i, i);
    b.go(1200);
    ASSERT_EQ(b.acks().size(), kWarps);
    for (uint32_t i = 0; i < kWarps; ++i) {
      EXPECT_EQ(b.cycles(i), (std::vector<uint32_t>{i + 1, i + 1 + latency}));
      EXPECT_EQ(b.acks()[i].packet.tag, i);
      EXPECT_EQ(b.acks()[i].at, kLatency + i + 1 + 2 * latency + kLatency);
    }
  }
}

/// A stack SM with one scheduler and one port that takes an instruction every four cycles. Requests
/// come faster than that, so the scheduler's policy alone chooses the warp.
struct OnePortBench : WideBench {
  explicit OnePortBench(sm::SchedulerPolicy policy)
      : WideBench({alu(1, {}, 4, 4), alu(2, {}, 4, 4), alu(3, {}, 4, 4)}) {
    params.num_warps = kWarps;
    params.num_schedulers = 1;
    params.ports[static_cast<uint32_t>(sm::Unit::kSp)] = 1;
    params.policy = policy;
    traces.run(head).run(body).run(tail).end();
    build();
  }
};

TEST(WideStackSm, GreedyThenOldestGoesByAgeNotBySlot) {
  OnePortBench b(sm::SchedulerPolicy::kGreedyThenOldest);
  constexpr uint32_t kRequests = 3 * kWarps - 50;
  for (uint32_t i = 0; i < kWarps; ++i) b.request(kLatency + i, i);
  uint32_t sent = kWarps;
  b.network->handler = [&](const Packet& p, Tick t) {
    if (p.kind == tom::kOffloadAck && sent < kRequests) {
      b.request(std::max<Tick>(t, kWarps) + kLatency, sent % kWarps);  // after the first ones
      sent += 1;
    }
    return true;
  };
  b.go(4 * 3 * kRequests + 200);
  // The slot that was freed first gets the next request, and waits behind all older ones.
  ASSERT_EQ(b.acks().size(), kRequests);
  for (uint32_t k = 0; k < kRequests; ++k) {
    EXPECT_EQ(b.acks()[k].packet.tag, k % kWarps) << k;
    EXPECT_EQ(b.acks()[k].at, kLatency + 1 + 4 * (3 * k + 3) + kLatency) << k;
  }
}

TEST(WideStackSm, LooseRoundRobinTurnsThroughAllWords) {
  OnePortBench b(sm::SchedulerPolicy::kLooseRoundRobin);
  for (uint32_t i = 0; i < kWarps; ++i) b.request(kLatency + i, i);
  b.go(4 * 3 * kWarps + 200);
  ASSERT_EQ(b.issues.size(), 3 * kWarps);
  for (uint32_t k = 0; k < 3 * kWarps; ++k) EXPECT_EQ(b.issues[k].warp, k % kWarps) << k;
}

/// The history of an SM of 48 warps: what it issued and sent, and when.
template <uint32_t kWords>
std::vector<uint64_t> history(sm::SchedulerPolicy policy, bool in_general) {
  StackBenchOf<kWords> b({load(1), alu(2, {1}, 9), store({2}), load(3), alu(4, {3})});
  b.params.policy = policy;
  b.in_general = in_general;
  b.traces.run(b.head).run(b.body).at(0, 4).at(4096, 12).at(8192, 128).run(b.tail).end();
  b.build();
  for (uint32_t i = 0; i < 48; ++i) b.request(kLatency + 3 * i, i);
  b.go(9000);
  EXPECT_EQ(b.acks().size(), 48u);
  std::vector<uint64_t> h;
  for (const Issue& i : b.issues) h.insert(h.end(), {i.cycle, i.warp, i.pc});
  for (const MockMemory::Item& i : b.network->got)
    h.insert(h.end(), {i.at, uint64_t(i.packet.kind), i.packet.tag, i.packet.line});
  return h;
}

TEST(WideStackSm, LikeTheNarrowOneWithAsManyWarps) {
  for (const auto policy :
       {sm::SchedulerPolicy::kGreedyThenOldest, sm::SchedulerPolicy::kLooseRoundRobin}) {
    const auto expected = history<1>(policy, false);
    EXPECT_EQ(history<2>(policy, false), expected);
    EXPECT_EQ(history<4>(policy, false), expected);
    EXPECT_EQ(history<4>(policy, true), expected);
  }
}

TEST(WideStackSm, AsManyWarpsAsASlotNumberCanName) {
  WideBench b({store()});
  b.params.num_warps = sm::kMaxWarps;
  b.network->latency = 400;
  b.traces.run(b.head).run(b.body).at(0, 4).run(b.tail).end();
  b.build();
  for (uint32_t i = 0; i < sm::kMaxWarps; ++i) b.request(kLatency + i, i);
  b.run_logged(kLatency + sm::kMaxWarps);
  EXPECT_FALSE(b.state().free_warps.any());
  EXPECT_EQ(b.warp_side(255).requester_warp, 255u);
  b.go(3000);
  ASSERT_EQ(b.acks().size(), sm::kMaxWarps);
  for (uint32_t i = 0; i < sm::kMaxWarps; ++i) EXPECT_EQ(b.cycles(i).size(), 1u) << i;
}

}  // namespace
}  // namespace nearwarp::tom
