// Is the whole memory side repeatable, asleep when idle, as fast as its parts allow, and copied as
// bytes?
#include <gtest/gtest.h>

#include "tests/memory/random_traffic.h"

namespace nearwarp::testing::memory_system_test {
namespace {

TEST(MemorySystem, HotLinesAreIndependentOfStepping) {
  Traffic t;
  t.spread = 50000;
  t.lines = 32;
  expect_independent(small_config(), t);
}

TEST(MemorySystem, RunTwiceGivesTheSame) {
  Traffic t;
  expect_same(run_system(small_config(), t, {448}), run_system(small_config(), t, {448}), "twice");
}

TEST(MemorySystem, IdleMachineIsNotStepped) {
  Traffic t;
  t.requests = 1;
  t.spread = 10000000;
  const Outcome o = run_system(small_config(), t, {448});
  EXPECT_LT(o.steps, 8u * 40);
}

// --- model gates: latency and bandwidth of the whole ---

/// Ticks that one SM-to-memory read takes through an idle machine.
TEST(MemoryGate, UnloadedLatencyIsTheSumOfItsParts) {
  const MemoryConfig c = small_config();
  MemorySystem m(c);
  auto p = m.rig.producer(m.sm_out[0], 1);
  auto in = m.rig.consumer(m.sm_in[0], 1);
  const uint32_t line = 0, stack = m.map.stack_of(line);
  const uint32_t dst = m.first_slice + stack * c.slices_per_stack + m.map.slice_in_stack(line);
  p->items.push_back(
      {0, make_packet(PacketKind::kRead, 0, static_cast<uint16_t>(dst), 8, 1, line), 0});
  m.rig.run({c.hop}, 1000000);
  ASSERT_EQ(in->items.size(), 1u);
  const auto up = [](Tick t, Tick period) { return (t + period - 1) / period * period; };
  const auto flits = [](uint32_t bytes, uint32_t flit) { return (bytes + flit - 1) / flit; };
  const Tick icnt = c.icnt_period;
  Tick t = up(c.hop, icnt) + c.hop;                                // SM, crossbar
  t = up(t, c.l2_period) + c.l2_latency * c.l2_period + c.hop;     // slice
  t = up(t, icnt) + 8 * c.link_num / c.link_den + c.link_latency;  // link port, TX
  t = up(t, icnt) + c.hop;                                         // stack switch
  t = up(t, c.dram_period) + (1 + c.dram.tRCD + c.dram.tCL) * c.dram_period + 128 * 14;
  t = up(t, c.dram_period) + c.hop;  // vault
  const Tick wire = (136 * c.link_num + c.link_den - 1) / c.link_den;
  t = up(t, icnt) + std::max<Tick>(wire, (flits(136, c.stack_flit_bytes) - 1) * icnt) +
      c.link_latency;                                               // stack switch, RX
  t = up(t, icnt) + c.hop;                                          // link port
  t = up(t, c.l2_period) + c.hop;                                   // slice
  t = up(t, icnt) + (flits(136, c.flit_bytes) - 1) * icnt + c.hop;  // reply crossbar
  EXPECT_EQ(in->items[0].at, t);
}

/// Saturating reads (or full-line writes) by all main SMs: the fraction of the links' bandwidth
/// (RX for reads, TX for writes) in use while requests last.
double link_utilisation(PacketKind kind) {
  const MemoryConfig c = tom_memory();
  MemorySystem m(c);
  std::vector<std::shared_ptr<MockConsumer>> replies;
  const uint32_t per_sm = 1500;
  for (uint32_t i = 0; i < c.sms; ++i) {
    auto p = m.rig.producer(m.sm_out[i], 100);
    for (uint32_t n = 0; n < per_sm; ++n) {
      const uint32_t line = n * c.sms + i;
      const uint32_t dst =
          m.first_slice + m.map.stack_of(line) * c.slices_per_stack + m.map.slice_in_stack(line);
      p->items.push_back({0,
                          make_packet(kind, static_cast<uint16_t>(i), static_cast<uint16_t>(dst),
                                      kind == PacketKind::kRead ? 8 : 136, n, line, 15),
                          0});
    }
    replies.push_back(m.rig.consumer(m.sm_in[i], 100));
  }
  for (const auto channel : m.control) m.rig.consumer(channel, 112);
  const Tick from = 500000, to = 3500000;
  m.rig.run({c.hop, 0, true, true}, from);
  uint64_t before = 0, after = 0;
  const auto busy = [&] {
    uint64_t ticks = 0;
    for (const auto channel : kind == PacketKind::kRead ? m.link_rx : m.link_tx) {
      ticks += m.rig.at(channel).producer_side.busy;
    }
    return ticks;
  };
  before = busy();
  m.rig.run({c.hop, 0, true, true}, to);
  after = busy();
  EXPECT_GT(after, before);
  return static_cast<double>(after - before) / static_cast<double>(c.stacks * (to - from));
}

TEST(MemoryGate, StreamingReadsFillTheLinks) {
  const double used = link_utilisation(PacketKind::kRead);
  EXPECT_GT(used, 0.95);
  EXPECT_LE(used, 1.001);
}

TEST(MemoryGate, StreamingWritesFillTheLinks) {
  const double used = link_utilisation(PacketKind::kWrite);
  EXPECT_GT(used, 0.90);
  EXPECT_LE(used, 1.001);
}

TEST(MemorySystem, CopyOfTheArenaContinuesAlike) {
  // The arena is the whole state: a copy that is put back runs to the same bytes again.
  const MemoryConfig c = small_config();
  MemorySystem m(c);
  const auto run = [&] {
    auto p = m.rig.producer(m.sm_out[0], 100);
    auto in = m.rig.consumer(m.sm_in[0], 100);
    for (uint32_t n = 0; n < 100; ++n) {
      const uint32_t line = n * 37 % 64;
      const uint32_t dst =
          m.first_slice + m.map.stack_of(line) * c.slices_per_stack + m.map.slice_in_stack(line);
      p->items.push_back(
          {0, make_packet(PacketKind::kRead, 0, static_cast<uint16_t>(dst), 8, n, line), 0});
    }
    m.rig.run({c.hop}, 10000000);
    EXPECT_EQ(in->items.size(), 100u);
    return m.rig.hash();
  };
  const std::vector<std::byte> start(m.rig.arena.base(),
                                     m.rig.arena.base() + m.rig.arena.size_bytes());
  const uint64_t first = run();
  m.rig.reset();
  std::copy(start.begin(), start.end(), m.rig.arena.base());
  m.rig.pop_components(2);
  EXPECT_EQ(run(), first);
}

TEST(MemorySystem, TomMachineDrains) {
  Traffic t;
  t.requests = 400;
  t.spread = 1;
  t.lines = 1 << 24;
  run_system(tom_memory(), t, {448});
}

}  // namespace
}  // namespace nearwarp::testing::memory_system_test
