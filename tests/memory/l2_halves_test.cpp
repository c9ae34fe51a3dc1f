// In which cycles do requests, replies and invalidations of copies pass between two
// twin L2 slices? The test plays SMs and memories.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <tuple>

#include "tests/memory/slice_rig.h"

namespace nearwarp::testing::l2_halves_test {
namespace {

constexpr Tick kLink = 60;        // 6 cycles
constexpr uint32_t kFarHit = 22;  // two look-ups of 5 cycles, and the link twice
constexpr uint16_t kSms = 4;      // SMs of each half: endpoints 1 to 4, and 5 to 8
constexpr uint32_t kSlice[] = {50, 51};

/// Slice 0 is the home of even lines, slice 1 that of odd ones.
struct Halves {
  struct Half {
    L2SliceParams params;
    Ref<L2SliceState> state;
    std::shared_ptr<MockProducer> sm_out, memory_out;
    std::shared_ptr<MockConsumer> sm_in, memory_in;
    Ref<Channel> to_memory, from_memory;
  };
  Rig rig;
  std::array<Half, 2> half;

  /// `answers`: memories answer by themselves; else the test sends their replies by fill().
  explicit Halves(uint16_t most = 8, bool answers = false, uint32_t ways = 4) {
    const ChannelSpec spec{16, kHop, kHop, 0, 1}, link{most, kLink, kLink, 0, 1};
    Ref<Channel> ways_between[2][3];
    for (auto& from : ways_between)
      for (Ref<Channel>& way : from) way = rig.channel(link);
    for (uint32_t i = 0; i < 2; ++i) {
      Half& h = half[i];
      L2SliceParams& p = h.params;
      p.period = kPeriod;
      p.latency_cycles = kLatency;
      p.index = folded(1);
      p.ways = ways;
      p.mshr_entries = 4;
      p.mshr_merges = 2;
      p.by_sectors = p.write_back = 1;
      p.header_bytes = 8;
      p.line_bytes = 128;
      p.sector_bytes = 32;
      p.endpoint = endpoint_of(kSlice[i]);
      p.stack = stack_id(i);
      p.homes = {rig.arena.allocate<Endpoint>(2), 1};
      for (uint16_t v = 0; v < 2; ++v) rig.arena.get(p.homes.endpoints)[v] = endpoint_of(100 + v);
      p.map.baseline.stack_bits = 1;
      p.map.baseline.vault_bits = 0;
      p.map.baseline.slice_bits = 0;
      p.map.baseline.hash = 0;
      p.halves.twin = endpoint_of(kSlice[1 - i]);
      const uint32_t far = i == 0 ? 1 + kSms : 1;
      p.halves.far_begin = endpoint_of(far);
      p.halves.far_end = endpoint_of(far + kSms);
      p.halves.most = most;
      const auto request = rig.channel(spec), reply = rig.channel(spec);
      h.to_memory = rig.channel(spec), h.from_memory = rig.channel(spec);
      L2SliceState s = make_l2_slice(rig.arena, p, 4, {request, h.from_memory, h.to_memory, reply});
      L2Halves& twins = s.halves;
      std::tie(twins.requests_out, twins.replies_out, twins.invalidations_out) =
          std::tie(ways_between[i][0], ways_between[i][1], ways_between[i][2]);
      std::tie(twins.requests_in, twins.replies_in, twins.invalidations_in) =
          std::tie(ways_between[1 - i][0], ways_between[1 - i][1], ways_between[1 - i][2]);
      h.state = rig.arena.allocate<L2SliceState>(1);
      *rig.arena.get(h.state) = s;
      h.sm_out = rig.producer(request, kPeriod);
      rig.add(
          [this, i](std::byte* base, Window w, Horizon& horizon) {
            return step_l2_slice<>(half[i].params, *half[i].state.in(base), base, w, horizon);
          },
          {request, h.from_memory, twins.requests_in, twins.replies_in, twins.invalidations_in});
      h.sm_in = rig.consumer(reply, kPeriod);
      if (answers) {
        rig.add([&h](std::byte* base, Window w, Horizon& z) { return memory(h, base, w, z); },
                {h.to_memory});
      } else {
        h.memory_out = rig.producer(h.from_memory, kPeriod);
        h.memory_in = rig.consumer(h.to_memory, kPeriod);
      }
    }
  }

  /// A request of an SM of half `i` that arrives there in `cycle`; of sector 0, or of its words.
  void request(uint32_t i, PacketKind kind, uint32_t cycle, uint32_t line, uint32_t tag = 0,
               uint32_t sectors = 1) {
    const uint16_t bytes = kind == PacketKind::kRead ? 8 : 40;
    const auto src = static_cast<uint16_t>(1 + i * kSms + tag % kSms);
    half[i].sm_out->items.push_back(
        {cycle * kPeriod - kHop, make_packet(kind, src, kSlice[i], bytes, tag, line, sectors), 0});
    if (kind == PacketKind::kWrite) half[i].sm_out->items.back().packet.payload = 0xff;
  }
  void read(uint32_t i, uint32_t cycle, uint32_t line, uint32_t tag = 0) {
    request(i, PacketKind::kRead, cycle, line, tag);
  }
  void write(uint32_t i, uint32_t cycle, uint32_t line, uint32_t tag = 0) {
    request(i, PacketKind::kWrite, cycle, line, tag);
  }
  /// The memory of half `i` sends sector 0 for MSHR `mshr`; it arrives in `cycle`.
  void fill(uint32_t i, uint32_t cycle, uint32_t mshr) {
    half[i].memory_out->items.push_back(
        {cycle * kPeriod - kHop,
         make_packet(PacketKind::kReadReply, 100, kSlice[i], 40, mshr, 0, 1), 0});
  }
  void run(const RunOptions& options = {kHop}) {
    rig.run(options, 1'000'000);
    EXPECT_TRUE(rig.drained());
    for (const Half& h : half) {
      const L2SliceState& s = *rig.arena.get(h.state);
      EXPECT_EQ(s.fault.code, 0u);
      EXPECT_EQ(s.mshrs_in_use, 0u);
      EXPECT_EQ(s.request_count + s.reply_count + s.halves.count + s.halves.under_way, 0u);
      EXPECT_EQ(h.sm_in->items.size(), h.sm_out->items.size());
    }
  }
  const L2HalvesCounters& counters(uint32_t i) {
    return rig.arena.get(half[i].state)->halves.counters;
  }
  const L2Counters& of_slice(uint32_t i) { return rig.arena.get(half[i].state)->counters; }
  /// The cycle in which reply `n` left slice `i`.
  uint64_t replied(uint32_t i, std::size_t n) const {
    return (half[i].sm_in->items.at(n).at - kHop) / kPeriod;
  }
  /// The cycle in which request `n` to memory left slice `i`.
  uint64_t asked(uint32_t i, std::size_t n) const {
    return (half[i].memory_in->items.at(n).at - kHop) / kPeriod;
  }

 private:
  /// A memory that takes a packet a cycle: it replies to reads with data, and acknowledges writes.
  static StepResult memory(Half& h, std::byte* base, Window w, Horizon& horizon) {
    Channel &in = *h.to_memory.in(base), &out = *h.from_memory.in(base);
    StepResult r;
    Tick t = w.begin;
    while (true) {
      t = max_tick(t, max_tick(head_arrival(in, base), send_tick(out, base)));
      r.poll = head_arrival(in, base) < kNever && send_tick(out, base) >= kNever;
      if (t >= kNever) return r;
      t = cycle_at_or_after(t, kPeriod) * kPeriod;
      if (t >= w.end) {
        r.wake = t;
        return r;
      }
      const Packet q = front(in, base);
      const bool read = q.kind == PacketKind::kRead;
      send(out, base, t,
           make_packet(read ? PacketKind::kReadReply : PacketKind::kWriteAck, 100,
                       static_cast<uint16_t>(node_of(q.src)), 40, read ? q.tag : 0, q.line,
                       q.sectors),
           horizon);
      pop(in, base, t, horizon);
      t += kPeriod;
    }
  }
};

TEST(L2Halves, AMissAsksTheHomeAndLeavesACopy) {
  Halves h;
  h.read(0, 10, 1, 0);  // an odd line: at home in half 1
  h.fill(1, 100, 0);
  h.read(0, 200, 1, 1);  // the copy
  h.read(1, 300, 1, 2);  // the home
  h.run();
  EXPECT_EQ(h.asked(1, 0), 10 + kLatency + 6 + kLatency);
  EXPECT_EQ(h.replied(0, 0), 100u + 6);
  EXPECT_EQ(h.replied(0, 1), 200u + kLatency);
  EXPECT_EQ(h.replied(1, 0), 300u + kLatency);
  EXPECT_EQ(h.counters(0).far_reads, 1u);
  EXPECT_EQ(h.counters(0).far_sectors, 1u);
  EXPECT_EQ(h.counters(0).far_fills, 1u);
  EXPECT_EQ(h.counters(0).far_hits, 1u);
  EXPECT_EQ(h.counters(1).from_twin, 1u);
  // Only the home has missed and got something from memory.
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(h.of_slice(i).reads, 2u);
    EXPECT_EQ(h.of_slice(i).read_hits, 1u);
    EXPECT_EQ(h.of_slice(i).read_misses, i);
    EXPECT_EQ(h.of_slice(i).sector_misses, i);
    EXPECT_EQ(h.of_slice(i).fills, i);
  }
  EXPECT_EQ(h.of_slice(1).memory_reads, 1u);
  EXPECT_EQ(h.of_slice(0).memory_reads, 0u);
}

TEST(L2Halves, AHitAtTheHomeTakesTheLinkTwiceAndTwoLookUps) {
  Halves h;
  h.read(1, 10, 1);
  h.fill(1, 50, 0);
  h.read(0, 100, 1);
  h.run();
  EXPECT_EQ(h.replied(0, 0), 100 + kFarHit);
}

TEST(L2Halves, MissesOfOneLineShareTheWay) {
  Halves h;
  h.read(0, 10, 1, 0);
  h.read(0, 11, 1, 1);
  h.fill(1, 100, 0);
  h.run();
  EXPECT_EQ(h.replied(0, 0), 106u);
  EXPECT_EQ(h.replied(0, 1), 107u);
  EXPECT_EQ(h.counters(0).far_reads, 1u);
  EXPECT_EQ(h.counters(0).far_merges, 1u);
  EXPECT_EQ(h.of_slice(0).read_misses, 0u);
  EXPECT_EQ(h.of_slice(0).read_merges, 1u);
  EXPECT_EQ(h.of_slice(1).read_misses, 1u);
}

TEST(L2Halves, WritesOfTheHomesHalfEndTheCopy) {
  Halves h;
  h.read(0, 10, 1);
  h.fill(1, 50, 0);
  h.write(1, 100, 1);     // the invalidation leaves with the look-up, and is there in cycle 106
  h.read(0, 105, 1, 1);   // the copy, still
  h.read(0, 106, 1, 2);   // asks again
  h.write(1, 200, 1, 1);  // there is a copy again
  h.write(1, 201, 1, 2);  // and none
  h.run();
  EXPECT_EQ(h.replied(1, 0), 100u + kLatency);
  EXPECT_EQ(h.replied(0, 1), 105u + kLatency);
  EXPECT_EQ(h.replied(0, 2), 106u + kFarHit);
  EXPECT_EQ(h.counters(1).invalidations_sent, 2u);
  EXPECT_EQ(h.counters(0).copies_given_up, 2u);
}

TEST(L2Halves, AnAnswerThatAnInvalidationHasOvertakenIsNotKept) {
  Halves h;
  h.read(1, 10, 1);
  h.fill(1, 50, 0);
  h.read(0, 100, 1, 1);   // looked up at home in cycle 111, answered from 116 on
  h.write(1, 112, 1, 1);  // the invalidation is there in cycle 118, before the answer
  h.read(0, 200, 1, 2);
  h.run();
  EXPECT_EQ(h.counters(1).invalidations_sent, 1u);
  EXPECT_EQ(h.replied(0, 0), 100u + kFarHit);
  EXPECT_EQ(h.replied(0, 1), 200u + kFarHit);
}

TEST(L2Halves, WritesOfTheOtherHalfPassTheCopyAndAreAnsweredByTheHome) {
  Halves h;
  h.read(0, 10, 1);
  h.fill(1, 50, 0);
  h.write(0, 100, 1, 1);
  h.read(0, 200, 1, 2);  // the copy has the write, too
  h.request(0, PacketKind::kAtomic, 300, 1, 3);
  h.read(0, 400, 1, 4);  // only the home has the atomic's result
  h.run();
  EXPECT_EQ(h.replied(0, 1), 100 + kFarHit);
  EXPECT_EQ(h.half[0].sm_in->items.at(1).packet.kind, PacketKind::kWriteAck);
  EXPECT_EQ(h.half[0].sm_in->items.at(1).packet.dst, 1 + 1);
  EXPECT_EQ(h.replied(0, 2), 200u + kLatency);
  EXPECT_EQ(h.replied(0, 3), 300 + kFarHit);
  EXPECT_EQ(h.half[0].sm_in->items.at(3).packet.kind, PacketKind::kAtomicReply);
  EXPECT_EQ(h.replied(0, 4), 400 + kFarHit);
  EXPECT_EQ(h.counters(0).far_writes, 2u);
  EXPECT_EQ(h.counters(1).invalidations_sent, 0u);
  EXPECT_EQ(h.of_slice(1).writes, 1u);
  EXPECT_EQ(h.of_slice(1).atomics, 1u);
}

TEST(L2Halves, ACopyEndsWithItsLineAtHome) {
  Halves h(8, false, 2);
  h.read(0, 10, 1);  // lines 1, 7, 13 have a set in common
  h.fill(1, 50, 0);
  h.read(1, 100, 7);
  h.fill(1, 140, 0);
  h.read(1, 200, 13);  // replaces 1
  h.fill(1, 240, 0);
  h.read(0, 300, 1, 1);
  h.fill(1, 350, 0);
  h.run();
  EXPECT_EQ(h.counters(1).invalidations_sent, 1u);
  EXPECT_EQ(h.counters(0).copies_given_up, 1u);
  EXPECT_EQ(h.replied(0, 1), 356u);
  EXPECT_EQ(h.counters(0).far_reads, 2u);
}

/// All replies: tick, SM, tag, kind of packet.
using Replies = std::vector<std::tuple<Tick, uint32_t, uint32_t, uint32_t>>;

Replies traffic(uint16_t most, uint32_t ways, const RunOptions& options) {
  Halves h(most, true, ways);
  std::mt19937 random(7);
  for (uint32_t i = 0; i < 2; ++i)
    for (uint32_t n = 0; n < 800; ++n) {
      const uint32_t what = random() % 8;
      h.request(i,
                what == 0   ? PacketKind::kAtomic
                : what <= 2 ? PacketKind::kWrite
                            : PacketKind::kRead,
                10 + n / (1 + i), random() % 48, n, 1u << random() % 4);
    }
  h.run(options);
  Replies all;
  for (uint32_t i = 0; i < 2; ++i) {
    for (const auto& item : h.half[i].sm_in->items)
      all.emplace_back(item.at, node_of(item.packet.dst), item.packet.tag,
                       static_cast<uint32_t>(item.packet.kind));
    const L2HalvesCounters& c = h.counters(i);
    for (const uint64_t n : {c.far_reads, c.far_writes, c.invalidations_sent}) EXPECT_GT(n, 0u);
    if (ways == 8) {
      EXPECT_GT(c.far_hits, 0u);
    }
    EXPECT_EQ(h.counters(1 - i).from_twin, c.far_reads + c.far_writes);
    EXPECT_EQ(c.far_fills, c.far_reads);
    const L2Counters& s = h.of_slice(i);
    EXPECT_EQ(s.reads, s.read_hits + s.read_merges + s.read_misses + c.far_reads);
    EXPECT_EQ(s.fills, s.memory_reads);
    all.emplace_back(c.copies_given_up, 0, static_cast<uint32_t>(c.invalidations_sent), 0);
  }
  return all;
}

TEST(L2Halves, TrafficEndsAndTheWayOfSteppingDoesNotShow) {
  for (const uint16_t most : {1, 2, 16})
    for (const uint32_t ways : {2u, 8u}) {
      const Replies expected = traffic(most, ways, {1});
      EXPECT_EQ(expected.size(), 1602u);
      for (const RunOptions& options : {RunOptions{20}, {13, 3}, {20, 5}, {7, 2, false}})
        EXPECT_EQ(traffic(most, ways, options), expected) << most << " " << ways;
    }
}

}  // namespace
}  // namespace nearwarp::testing::l2_halves_test
