// Random traffic through a whole memory side, and what must hold at its end: conservation, drain,
// the same state bytes with any window length, any stepping order, any lane order.
#pragma once

#include <gtest/gtest.h>

#include "device/mechanisms/tom/packets.h"
#include "tests/memory/memory_system.h"

namespace nearwarp::testing {

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
inline Outcome run_system(const MemoryConfig& config, const Traffic& traffic,
                          const RunOptions& options) {
  MemorySystem m(config);
  std::mt19937 random(traffic.seed);
  std::vector<std::shared_ptr<MockProducer>> producers;
  std::vector<std::shared_ptr<MockConsumer>> consumers;
  const uint32_t main_sms = config.sms;
  const uint32_t all = main_sms + config.stacks * config.stack_sms;
  const bool keeps = config.by_sectors != 0 || config.write_back != 0;
  const bool launches = config.at_launch != L2AtLaunch::kKeep;
  uint64_t begun = 0;
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
      if (what >= 95 && main && !keeps) kind = PacketKind::kInvalidate;
      if (what >= 97 && main && launches) kind = PacketKind::kNewLaunch;
      if (what == 99 && main && !keeps) kind = tom::kOffloadRequest;
      if (kind == PacketKind::kWrite || kind == PacketKind::kAtomic) {
        sectors = 1 + random() % 15;
        if (keeps && config.by_sectors == 0 && random() % 2 != 0) sectors = 15;
        bytes = static_cast<uint16_t>(8 + 32 * population_count(sectors));
      }
      reads += kind == PacketKind::kRead;
      writes += kind == PacketKind::kWrite;
      atomics += kind == PacketKind::kAtomic;
      invalidations += kind == PacketKind::kInvalidate;
      begun += kind == PacketKind::kNewLaunch;
      offloads += kind == tom::kOffloadRequest;
      const uint32_t stack = m.map.stack_of(line);
      uint32_t dst =
          main ? m.first_slice + stack * config.slices_per_stack + m.map.slice_in_stack(line)
               : m.first_vault + stack * config.vaults + m.map.vault_of(line);
      if (kind == tom::kOffloadRequest) {
        dst = m.first_stack_sm + stack * config.stack_sms;
        bytes = 72;
      }
      const bool apart =
          kind == PacketKind::kNewLaunch || (kind == PacketKind::kInvalidate && what % 2 == 0);
      MockProducer& by = apart ? *drops : *p;
      by.items.push_back(
          {random() % traffic.spread,
           make_packet(kind, src, static_cast<uint16_t>(dst), bytes, n, line, sectors), 0});
      if (keeps) {
        Packet& sent = by.items.back().packet;
        if (kind == PacketKind::kRead && config.by_sectors != 0) sent.sectors = random() % 16;
        // Writes have all words of their sectors, or all but the first one.
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
  EXPECT_EQ(m.sum(m.slices, [](auto& s) { return s.counters.launches; }), begun);
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
  EXPECT_EQ(m.sum(m.slices, [](auto& s) { return s.counters.lines_dirtied; }),
            m.sum(m.slices, [&](auto& s) {
              uint64_t n = s.counters.write_backs;
              for (uint32_t i = 0; i < s.dirty_lines.count; ++i)
                n += m.rig.arena.get(s.dirty_lines)[i] != 0;
              return s.dirty_lines.count != 0 ? n : 0;
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

inline MemoryConfig small_config() {
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

inline void expect_same(const Outcome& a, const Outcome& b, const char* what) {
  EXPECT_EQ(a.replies, b.replies) << what;
  EXPECT_EQ(a.hash, b.hash) << what;
}

inline void expect_independent(const MemoryConfig& config, const Traffic& traffic) {
  const Outcome expected = run_system(config, traffic, {config.hop, 0, true});
  EXPECT_GT(expected.replies.size(), 100u);
  for (const Tick window : {Tick{1}, Tick{3}, Tick{57}, Tick{112}, Tick{175}, Tick{447}}) {
    if (window > config.hop) continue;
    expect_same(expected, run_system(config, traffic, {window, 0, true}), "window");
  }
  for (const uint32_t seed : {1u, 2u, 3u}) {
    expect_same(expected, run_system(config, traffic, {config.hop, seed, true}), "order");
    expect_same(expected, run_system(config, traffic, {37, seed, false}), "order, never asleep");
  }
}

}  // namespace nearwarp::testing
