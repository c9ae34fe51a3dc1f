// Does a crossbar that is stepped packet by packet do what it does flit by flit?
#include <gtest/gtest.h>

#include <random>

#include "tests/noc/network_rig.h"

namespace nearwarp::testing {
namespace {

/// A load, and what holds it up.
struct Load {
  const char* name;
  uint32_t packets;     ///< packets of every input
  uint32_t spacing;     ///< ticks between packets, at most
  uint32_t most_bytes;  ///< bytes of a packet, at most
  Tick consumer_period, stall_until;
};
constexpr Load kLoads[] = {
    {"light", 60, 2000, 160, 10, 0},       {"heavy", 150, 60, 160, 10, 0},
    {"long", 60, 200, 1600, 10, 0},        {"slow", 100, 60, 160, 90, 0},
    {"stalled", 100, 100, 300, 10, 20000},
};

struct Shape {
  uint32_t speedup, depth, routing_delay;
  bool split;
};

/// A run's results, as far as they can be seen from outside.
struct Seen {
  std::vector<Tick> sent, arrived;
  std::vector<uint32_t> tags;
  uint64_t flits = 0, bytes = 0, replies = 0;
  bool operator==(const Seen&) const = default;
};

Seen run(const Shape& shape, const Load& load, uint32_t seed, bool flit_by_flit,
         const RunOptions& options) {
  auto keys = network("crossbar");
  const auto set = [&](const std::string& key, uint32_t value) {
    keys.push_back("interconnect." + key + "=" + std::to_string(value));
  };
  set("vcs", 1);
  set("internal_speedup", shape.speedup);
  set("vc_flits", shape.depth);
  set("routing_delay_cycles", shape.routing_delay);
  keys.push_back(std::string("interconnect.split_packets=") + (shape.split ? "true" : "false"));
  keys.push_back(std::string("interconnect.flit_by_flit=") + (flit_by_flit ? "true" : "false"));
  NetworkRig r(keys, false, {3, 40, 40, 0, 1});
  std::mt19937 random(seed);
  for (uint32_t i = 0; i < NetworkRig::kInputs; ++i) {
    Tick at = 0;
    for (uint32_t k = 0; k < load.packets; ++k) {
      at += random() % load.spacing;
      r.send(i, at, static_cast<uint16_t>(random() % NetworkRig::kOutputs),
             static_cast<uint16_t>(1 + random() % load.most_bytes), k * 100 + i);
      r.in[i]->items.back().packet.sectors = random() % 16;
    }
  }
  r.out[1]->period = load.consumer_period;
  r.out[2]->from = load.stall_until;
  r.rig.run(options, 10000000);
  EXPECT_TRUE(r.rig.drained());
  EXPECT_EQ(r.ends().flits_inside, 0u);
  Seen seen;
  for (const auto& in : r.in)
    for (const auto& item : in->items) seen.sent.push_back(item.sent);
  for (const auto& out : r.out) {
    for (const auto& item : out->items) {
      seen.arrived.push_back(item.at);
      seen.tags.push_back(item.packet.tag);
    }
  }
  seen.flits = r.ends().counters.flits;
  seen.bytes = r.ends().counters.bytes;
  seen.replies = r.ends().counters.replies;
  return seen;
}

TEST(Crossbar, DoesWhatEachFlitWouldDo) {
  uint32_t seed = 1;
  for (const uint32_t speedup : {1u, 2u}) {
    for (const uint32_t depth : {1u, 3u, 16u, 64u}) {
      for (const uint32_t routing_delay : {0u, 1u, 3u, noc::kMaxRoutingDelay}) {
        for (const bool split : {false, true}) {
          for (const Load& load : kLoads) {
            const Shape shape{speedup, depth, routing_delay, split};
            const Seen by_flit = run(shape, load, ++seed, true, {40});
            const Seen by_packet = run(shape, load, seed, false, {40});
            ASSERT_EQ(by_packet.arrived.size(), load.packets * NetworkRig::kInputs);
            ASSERT_TRUE(by_packet == by_flit)
                << load.name << ", speed-up " << speedup << ", depth " << depth << ", routing "
                << routing_delay << (split ? ", split" : "");
          }
        }
      }
    }
  }
}

TEST(Crossbar, WindowsDoNotShow) {
  for (const Load& load : kLoads) {
    const Shape shape{2, 16, 0, false};
    const Seen expected = run(shape, load, 7, false, {40});
    EXPECT_TRUE(run(shape, load, 7, false, {1, 0, false}) == expected) << load.name;
    EXPECT_TRUE(run(shape, load, 7, false, {13, 5}) == expected) << load.name;
  }
}

TEST(Crossbar, NumbersOfCyclesMayWrap) {
  // Numbers of cycles, and of half-cycle rounds, have 32 bits. Pauses take half of that range to
  // all of it; in bursts several inputs want an output for longer than events are scheduled ahead.
  const std::vector<Tick> pauses = {
      0,          1ull << 30,          (1ull << 31) - 40,  1ull << 31, (1ull << 31) + 100000,
      3ull << 30, (1ull << 32) - 4000, (1ull << 32) + 9000};
  const auto arrivals = [&](uint32_t speedup, uint16_t bytes, const std::string& flit_by_flit) {
    auto keys = fast_network("crossbar");
    keys.push_back("interconnect.internal_speedup=" + std::to_string(speedup));
    keys.push_back("interconnect.flit_by_flit=" + flit_by_flit);
    NetworkRig r(keys);
    Tick at = 0;
    for (const Tick pause : pauses) {
      at += pause * kPeriod;
      for (uint32_t k = 0; k < 4; ++k)
        for (uint32_t i = 0; i < 4; ++i) r.send(i, at + 30 * k * kPeriod, 1, bytes);
    }
    r.rig.run({40}, kNever);
    std::vector<Tick> ticks;
    for (const auto& item : r.out[1]->items) ticks.push_back(item.at);
    return ticks;
  };
  for (const uint32_t speedup : {1u, 2u}) {
    for (const uint16_t bytes : {uint16_t{160}, uint16_t{1600}}) {
      const std::vector<Tick> expected = arrivals(speedup, bytes, "true");
      EXPECT_EQ(expected.size(), 16 * pauses.size());
      EXPECT_EQ(arrivals(speedup, bytes, "false"), expected) << speedup << ", " << bytes;
    }
  }
}

TEST(Crossbar, LongRoutingIsSteppedFlitByFlit) {
  for (const uint32_t delay : {noc::kMaxRoutingDelay, noc::kMaxRoutingDelay + 1}) {
    auto keys = network("crossbar");
    keys.push_back("interconnect.vcs=1");
    keys.push_back("interconnect.routing_delay_cycles=" + std::to_string(delay));
    const auto machine = config::load_machine("tom", keys);
    EXPECT_EQ(sim::is_crossbar_of_queues({kPeriod, machine.interconnect}),
              delay == noc::kMaxRoutingDelay);
  }
}

TEST(Crossbar, IsSteppedOnlyWhenSomethingHappens) {
  NetworkRig r(fast_network("crossbar"));
  r.send(0, 0, 1, 160);
  r.send(0, 1000000, 1, 160);
  r.rig.run({40}, 3000000);
  ASSERT_EQ(r.out[1]->items.size(), 2u);
  EXPECT_LT(r.rig.steps, 40u);
}

}  // namespace
}  // namespace nearwarp::testing
