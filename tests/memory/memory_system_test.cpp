// The whole memory side under random traffic: conservation, drain, and the same state bytes with
// any window length, any stepping order, any lane order.
#include "tests/memory/memory_system.h"

#include <gtest/gtest.h>

#include "device/mechanisms/tom/packets.h"

namespace nearwarp::testing {
namespace {

struct Traffic {
  uint32_t requests = 120;   ///< per SM
  uint32_t lines = 1 << 12;  ///< footprint
  Tick spread = 100000;      ///< requests are spread over so many ticks
  uint32_t seed = 1;
  Tick consumer_period = 100;
};

struct Outcome {
  uint64_t hash = 0;
  Tick last = 0;
  std::vector<Tick> replies;  ///< times, by SM, in order
  uint64_t steps = 0;
};

/// Run random traffic through a memory system and check everything that must hold at the end.
template <class G>
Outcome run_system(const MemoryConfig& config, const Traffic& traffic, const RunOptions& options,
                   G group = {}) {
  MemorySystem<G> m(config, group);
  std::mt19937 random(traffic.seed);
  std::vector<std::shared_ptr<MockProducer>> producers;
  std::vector<std::shared_ptr<MockConsumer>> consumers;
  const uint32_t main_sms = config.sms;
  const uint32_t all = main_sms + config.stacks * config.stack_sms;
  uint64_t reads = 0, writes = 0, atomics = 0, invalidations = 0, offloads = 0;
  for (uint32_t i = 0; i < all; ++i) {
    const bool main = i < main_sms;
    const auto src = static_cast<uint16_t>(main ? i : m.first_stack_sm + i - main_sms);
    auto p = m.rig.producer(main ? m.sm_out[i] : m.stack_sm_out[i - main_sms], 100);
    std::shared_ptr<MockProducer> drops;
    if (main) drops = m.rig.producer(m.sm_invalidations[i], 100);
    for (uint32_t n = 0; n < traffic.requests; ++n) {
      const uint32_t line = random() % traffic.lines;
      const uint32_t what = random() % 100;
      PacketKind kind = PacketKind::kRead;
      uint16_t bytes = 8;
      uint32_t sectors = 0;
      if (what >= 60 && what < 85) kind = PacketKind::kWrite;
      if (what >= 85 && what < 95) kind = PacketKind::kAtomic;
      if (what >= 95 && main && config.by_sectors == 0) kind = PacketKind::kInvalidate;
      if (what == 99 && main && config.by_sectors == 0) kind = tom::kOffloadRequest;
      if (kind == PacketKind::kWrite || kind == PacketKind::kAtomic) {
        sectors = 1 + random() % 15;
        bytes = static_cast<uint16_t>(8 + 32 * population_count(sectors));
      }
      reads += kind == PacketKind::kRead;
      writes += kind == PacketKind::kWrite;
      atomics += kind == PacketKind::kAtomic;
      invalidations += kind == PacketKind::kInvalidate;
      offloads += kind == tom::kOffloadRequest;
      const uint32_t stack = m.map.stack_of(line);
      uint32_t dst =
          main ? m.first_slice + stack * config.slices_per_stack + m.map.slice_in_stack(line)
               : m.first_vault + stack * config.vaults + m.map.vault_of(line);
      if (kind == tom::kOffloadRequest) {
        dst = m.first_stack_sm + stack * config.stack_sms;
        bytes = 72;
      }
      MockProducer& by = kind == PacketKind::kInvalidate && what % 2 == 0 ? *drops : *p;
      by.items.push_back(
          {random() % traffic.spread,
           make_packet(kind, src, static_cast<uint16_t>(dst), bytes, n, line, sectors), 0});
      if (config.by_sectors != 0) {
        Packet& sent = by.items.back().packet;
        if (kind == PacketKind::kRead) sent.sectors = random() % 16;
        // Sectors that are written are written whole, or but for the first word.
        if (kind == PacketKind::kWrite) {
          for (uint32_t k = 0; k < 4; ++k)
            if ((sectors >> k & 1) != 0)
              sent.payload |= (random() % 2 != 0 ? 0xffull : 0xfe) << 8 * k;
        }
      }
    }
    if (main) {
      std::sort(drops->items.begin(), drops->items.end(),
                [](const auto& a, const auto& b) { return a.at < b.at; });
    }
    std::sort(p->items.begin(), p->items.end(),
              [](const auto& a, const auto& b) { return a.at < b.at; });
    producers.push_back(p);
    consumers.push_back(
        m.rig.consumer(main ? m.sm_in[i] : m.stack_sm_in[i - main_sms], traffic.consumer_period));
  }
  for (const auto c : m.control) consumers.push_back(m.rig.consumer(c, 112));

  Outcome result;
  m.rig.run(options, 40000000);
  EXPECT_TRUE(m.rig.drained());
  EXPECT_TRUE(m.faultless());

  // Every request met its response, at the SM that asked.
  uint64_t got_reads = 0, got_writes = 0, got_atomics = 0, got_offloads = 0;
  for (uint32_t i = 0; i < all; ++i) {
    const uint16_t self = static_cast<uint16_t>(i < main_sms ? i : m.first_stack_sm + i - main_sms);
    for (const auto& item : consumers[i]->items) {
      result.replies.push_back(item.at);
      result.last = std::max(result.last, item.at);
      got_reads += item.packet.kind == PacketKind::kReadReply;
      got_writes += item.packet.kind == PacketKind::kWriteAck;
      got_atomics += item.packet.kind == PacketKind::kAtomicReply;
      got_offloads += item.packet.kind == tom::kOffloadRequest;
      EXPECT_EQ(item.packet.dst, self);
      if (item.packet.kind != tom::kOffloadRequest) {
        // Producers are sorted by time; tags are their requests' numbers before that.
        const auto& sent = producers[i]->items;
        const auto at = std::find_if(sent.begin(), sent.end(), [&](const auto& s) {
          return s.packet.tag == item.packet.tag;
        });
        EXPECT_EQ(at->packet.line, item.packet.line);
      }
    }
  }
  EXPECT_EQ(got_reads, reads);
  EXPECT_EQ(got_writes, writes);
  EXPECT_EQ(got_atomics, atomics);
  EXPECT_EQ(got_offloads, offloads);
  EXPECT_EQ(m.sum(m.slices, [](auto& s) { return s.counters.invalidations; }), invalidations);
  EXPECT_EQ(m.sum(m.slices, [](auto& s) { return s.mshrs_in_use + s.request_reserved; }), 0u);
  EXPECT_EQ(m.sum(m.slices,
                  [](auto& s) {
                    return s.counters.atomic_writes + s.counters.write_backs -
                           s.counters.atomic_write_acks;
                  }),
            0u);
  EXPECT_EQ(m.sum(m.slices, [](auto& s) { return s.counters.sectors_dirtied; }),
            m.sum(m.slices, [&](auto& s) {
              uint64_t n = s.counters.sectors_written_back;
              for (uint32_t i = 0; i < s.sectors.count; ++i)
                n += population_count(m.rig.arena.get(s.sectors)[i].dirty);
              return n;
            }));
  EXPECT_EQ(m.sum(m.vaults, [](auto& s) { return s.valid != 0 || s.exits[0].count != 0 ? 1 : 0; }),
            0u);
  EXPECT_EQ(
      m.sum(m.vaults, [](auto& s) { return s.counters.requests_in - s.counters.replies_out; }), 0u);
  EXPECT_EQ(m.sum(m.vaults,
                  [](auto& s) {
                    return s.counters.row_hits + s.counters.row_misses + s.counters.row_conflicts;
                  }),
            m.sum(m.vaults, [](auto& s) {
              return s.counters.reads + s.counters.writes + 2 * s.counters.atomics;
            }));
  const auto idle = [](auto& s) { return s.active_ports | s.registered[0] | s.registered[1]; };
  EXPECT_EQ(m.sum(m.crossbars, idle) + m.sum(m.stack_switches, idle), 0u);

  result.hash = m.rig.hash();
  result.steps = m.rig.steps;
  return result;
}

MemoryConfig small_config() {
  MemoryConfig c;
  c.sms = 6;
  c.sms_per_cluster = 2;
  c.stacks = 2;
  c.slices_per_stack = 2;
  c.vaults = 4;
  c.banks = 4;
  c.set_bits = 2;
  c.ways = 4;
  c.mshrs = 8;
  c.merges = 2;
  return c;
}

void expect_same(const Outcome& a, const Outcome& b, const char* what) {
  EXPECT_EQ(a.replies, b.replies) << what;
  EXPECT_EQ(a.hash, b.hash) << what;
}

void expect_independent(const MemoryConfig& config, const Traffic& traffic) {
  const Outcome expected = run_system<HostGroup>(config, traffic, {config.hop, 0, true});
  EXPECT_GT(expected.replies.size(), 100u);
  for (const Tick window : {Tick{1}, Tick{3}, Tick{57}, Tick{112}, Tick{175}, Tick{447}}) {
    if (window > config.hop) continue;
    expect_same(expected, run_system<HostGroup>(config, traffic, {window, 0, true}), "window");
  }
  for (const uint32_t seed : {1u, 2u, 3u}) {
    expect_same(expected, run_system<HostGroup>(config, traffic, {config.hop, seed, true}),
                "order");
    expect_same(expected, run_system<HostGroup>(config, traffic, {37, seed, false}),
                "order, never asleep");
    expect_same(
        expected,
        run_system<ShuffledGroup>(config, traffic, {config.hop, seed, true}, ShuffledGroup{seed}),
        "lanes");
  }
}

TEST(MemorySystem, LightTrafficIsIndependentOfStepping) {
  Traffic t;
  t.spread = 2000000;
  expect_independent(small_config(), t);
}

TEST(MemorySystem, HeavyTrafficIsIndependentOfStepping) {
  Traffic t;
  t.spread = 1;
  t.requests = 150;
  expect_independent(small_config(), t);
}

TEST(MemorySystem, HotLinesAreIndependentOfStepping) {
  Traffic t;
  t.spread = 50000;
  t.lines = 32;
  expect_independent(small_config(), t);
}

TEST(MemorySystem, SingleSlotsAndSlowConsumersAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.slots = 1;
  c.vault_queue = 2;
  c.dram.write_high = 2;
  c.dram.write_low = 1;
  c.mshrs = 2;
  Traffic t;
  t.spread = 1;
  t.requests = 100;
  t.consumer_period = 2000;
  expect_independent(c, t);
}

TEST(MemorySystem, ShortHopsAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.hop = 60;
  Traffic t;
  t.spread = 20000;
  expect_independent(c, t);
}

TEST(MemorySystem, FrequentRefreshAndStarvationAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.dram.tREFI = 300;
  c.dram.tRFC = 50;
  c.dram.starvation_cycles = 100;
  Traffic t;
  t.spread = 100000;
  expect_independent(c, t);
}

class MemoryBySectors : public ::testing::TestWithParam<uint8_t> {};

TEST_P(MemoryBySectors, IsIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.by_sectors = 1;
  c.write_back = GetParam();
  Traffic t;
  t.spread = 20000;
  t.lines = 64;
  expect_independent(c, t);
  t.lines = 1 << 12;
  t.spread = 1;
  expect_independent(c, t);
}

TEST_P(MemoryBySectors, SingleSlotsAreIndependentOfStepping) {
  MemoryConfig c = small_config();
  c.by_sectors = 1;
  c.write_back = GetParam();
  c.slots = 1;
  c.vault_queue = 2;
  c.dram.write_high = 2;
  c.dram.write_low = 1;
  c.mshrs = 2;
  Traffic t;
  t.spread = 1;
  t.requests = 100;
  t.lines = 128;
  t.consumer_period = 2000;
  expect_independent(c, t);
}

TEST_P(MemoryBySectors, LanesThatAreThreadsGiveTheSame) {
  MemoryConfig c = small_config();
  c.by_sectors = 1;
  c.write_back = GetParam();
  c.vaults = 2;
  Traffic t;
  t.requests = 60;
  t.spread = 20000;
  t.lines = 64;
  expect_same(run_system<HostGroup>(c, t, {448}), run_system<SpmdTeam>(c, t, {448}), "threads");
}

INSTANTIATE_TEST_SUITE_P(WritePolicies, MemoryBySectors, ::testing::Values(0, 1),
                         [](const auto& test) { return test.param != 0 ? "back" : "through"; });

TEST(MemorySystem, LanesThatAreThreadsGiveTheSame) {
  MemoryConfig c = small_config();
  c.vaults = 2;
  c.dram.tREFI = 700;
  c.dram.starvation_cycles = 100;
  Traffic t;
  t.requests = 60;
  t.spread = 20000;
  t.lines = 64;
  expect_same(run_system<HostGroup>(c, t, {448}), run_system<SpmdTeam>(c, t, {448}), "threads");
}

TEST(MemorySystem, RunTwiceGivesTheSame) {
  Traffic t;
  expect_same(run_system<HostGroup>(small_config(), t, {448}),
              run_system<HostGroup>(small_config(), t, {448}), "twice");
}

TEST(MemorySystem, IdleMachineIsNotStepped) {
  Traffic t;
  t.requests = 1;
  t.spread = 10000000;
  const Outcome o = run_system<HostGroup>(small_config(), t, {448});
  EXPECT_LT(o.steps, 8u * 40);
}

// --- model gates: what the whole is worth ---

/// Ticks that one SM-to-memory read takes through an idle machine.
TEST(MemoryGate, UnloadedLatencyIsTheSumOfItsParts) {
  const MemoryConfig c = small_config();
  MemorySystem<HostGroup> m(c);
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
  MemorySystem<HostGroup> m(c);
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
  // The arena is the whole state: put back, it runs to the same bytes again.
  const MemoryConfig c = small_config();
  MemorySystem<HostGroup> m(c);
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
  run_system<HostGroup>(tom_memory(), t, {448});
}

}  // namespace
}  // namespace nearwarp::testing
