// An L2 slice alone, between neighbours that the test plays.
#pragma once

#include <gtest/gtest.h>

#include "device/cache/l2_slice.h"
#include "tests/memory/period.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

inline constexpr Tick kHop = 20;
inline constexpr uint32_t kLatency = 5;

/// The set function of machines that do not set l2.set_function.
inline cache::SetIndex folded(uint32_t bits) {
  return {1u << bits, bits, cache::SetFunction::kFolded};
}

/// A slice between a mock SM side and a mock memory that the test scripts.
struct SliceRig {
  Rig rig;
  L2SliceParams params;
  Ref<L2SliceState> state;
  std::shared_ptr<MockProducer> sm_out, memory_out, invalidations;
  std::shared_ptr<MockConsumer> sm_in, memory_in;

  /// `step`: the step function, if the slice has mechanisms.
  explicit SliceRig(std::function<void(L2SliceParams&)> adjust = {}, uint32_t slots = 16,
                    decltype(&step_l2_slice<>) step = step_l2_slice<>) {
    params.period = kPeriod;
    params.latency_cycles = kLatency;
    params.index = folded(1);
    params.ways = 2;
    params.mshr_entries = 4;
    params.mshr_merges = 2;
    params.header_bytes = 8;
    params.line_bytes = 128;
    params.sector_bytes = 32;
    params.endpoint = Endpoint{50};
    params.homes = {rig.arena.allocate<Endpoint>(4), 4};
    for (uint16_t v = 0; v < 4; ++v)
      rig.arena.get(params.homes.endpoints)[v] = endpoint_of(100 + v);
    params.map.baseline.stack_bits = 0;
    params.map.baseline.vault_bits = 2;
    params.map.baseline.slice_bits = 0;
    params.map.baseline.hash = 0;
    if (adjust) adjust(params);
    const ChannelSpec spec{slots, kHop, kHop, 0, 1};
    const auto request = rig.channel(spec), reply = rig.channel(spec),
               to_memory = rig.channel(spec), from_memory = rig.channel(spec),
               invalidate = rig.channel(spec);
    L2SliceState s = make_l2_slice(rig.arena, params, 4, {request, from_memory, to_memory, reply});
    s.invalidate_in = invalidate;
    state = rig.arena.allocate<L2SliceState>(1);
    *rig.arena.get(state) = s;
    sm_out = rig.producer(request, kPeriod);
    memory_out = rig.producer(from_memory, kPeriod);
    invalidations = rig.producer(invalidate, kPeriod);
    rig.add([this, step](std::byte* base, Window w,
                         Horizon& h) { return step(params, *state.in(base), base, w, h); },
            {request, from_memory, invalidate});
    sm_in = rig.consumer(reply, kPeriod);
    memory_in = rig.consumer(to_memory, kPeriod);
  }
  /// A request that arrives at the slice in `cycle`.
  void request(PacketKind kind, uint32_t cycle, uint32_t line, uint32_t tag = 0, uint16_t src = 1,
               uint32_t sectors = 1) {
    const uint16_t bytes = kind == PacketKind::kWrite || kind == PacketKind::kAtomic ? 40 : 8;
    sm_out->items.push_back(
        {cycle * kPeriod - kHop, make_packet(kind, src, 50, bytes, tag, line, sectors), 0});
  }
  void read(uint32_t cycle, uint32_t line, uint32_t tag = 0, uint16_t src = 1) {
    request(PacketKind::kRead, cycle, line, tag, src);
  }
  /// A write of the words `words`.
  void write(uint32_t cycle, uint32_t line, uint64_t words, uint32_t tag = 0, uint16_t src = 1) {
    uint32_t sectors = 0;
    for (uint32_t k = 0; k < 4; ++k) sectors |= (words >> 8 * k & 0xff) != 0 ? 1u << k : 0;
    request(PacketKind::kWrite, cycle, line, tag, src, sectors);
    sm_out->items.back().packet.payload = words;
  }
  /// The data for MSHR `mshr` arrives in `cycle`; by sectors: that of `sectors`.
  void fill(uint32_t cycle, uint32_t mshr, uint32_t sectors = 0) {
    memory_out->items.push_back(
        {cycle * kPeriod - kHop,
         make_packet(PacketKind::kReadReply, 100, 50, 136, mshr, 0, sectors), 0});
  }
  void acknowledge(uint32_t cycle) {
    memory_out->items.push_back(
        {cycle * kPeriod - kHop, make_packet(PacketKind::kWriteAck, 100, 50, 8), 0});
  }
  void run() {
    rig.run({kHop}, 100000);
    EXPECT_TRUE(rig.drained());
    const L2SliceState& s = *rig.arena.get(state);
    EXPECT_EQ(s.fault.code, 0u);
    EXPECT_EQ(s.mshrs_in_use, 0u);
    EXPECT_EQ(s.request_reserved, 0u);
    EXPECT_EQ(s.request_count + s.reply_count, 0u);
    const L2Counters& c = s.counters;
    EXPECT_EQ(c.requests_in, c.reads + c.writes + c.atomics + c.invalidations);
    EXPECT_EQ(c.replies_out,
              c.reads + c.atomics + (params.write_back != 0 ? c.writes : 0) - c.writes_through);
    EXPECT_EQ(c.reads, c.read_hits + c.read_misses + c.read_merges);
    EXPECT_EQ(c.atomics, c.atomic_hits + c.atomic_misses + c.atomic_merges);
    EXPECT_EQ(c.memory_reads, c.read_misses + c.atomic_misses + c.write_fetches);
    EXPECT_EQ(c.memory_reads, c.fills);
    EXPECT_EQ(c.memory_writes,
              params.write_back != 0 ? c.write_backs + c.writes_through : c.writes + c.atomics);
    EXPECT_EQ(c.atomic_writes + c.write_backs, c.atomic_write_acks);
  }
  const L2Counters& counters() { return rig.arena.get(state)->counters; }
  uint64_t replied(std::size_t i) const { return (sm_in->items.at(i).at - kHop) / kPeriod; }
  uint64_t asked(std::size_t i) const { return (memory_in->items.at(i).at - kHop) / kPeriod; }
};

}  // namespace nearwarp::testing
