// Do synthetic terminals that sleep make and take the same packets as those that are stepped in
// every cycle?
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "device/core/arena.h"
#include "device/noc/standalone.h"
#include "host/timing/noc/wiring.h"
#include "tests/noc/flit_by_flit/build.h"
#include "tests/noc/flit_by_flit/network.h"
#include "tests/noc/flit_by_flit/traffic.h"

namespace nearwarp::testing {
namespace {

/// One random case.
struct TrafficCase {
  noc::NocConfig config;
  noc::Topology topology;
  uint32_t reply_flits = 0;
  uint64_t threshold = 0;  ///< threshold of each source that makes packets by itself
  uint32_t begin = 0;
  uint32_t measured_from = 0, measured_to = 0;

  explicit TrafficCase(uint32_t seed) : topology() {
    std::mt19937 random(seed);
    const auto one_of = [&](auto... values) {
      const uint32_t all[] = {static_cast<uint32_t>(values)...};
      return all[random() % sizeof...(values)];
    };
    config.topology = seed % 3 == 0 ? "crossbar" : "mesh";
    config.size = seed % 3 == 0 ? "9x4" : "5x4";
    config.vcs = one_of(2, 4, 8);
    config.vnets = one_of(1, 2);
    config.buffers = one_of(1, 3, 8);
    config.packet_flits = one_of(1, 1, 5);
    config.speedup = one_of(1, 1, 2);
    config.wait_for_tail_credit = random() % 4 == 0;
    if (config.topology == "mesh" && config.vnets == 2 && random() % 2 == 0) reply_flits = 5;
    topology = noc::make_topology(config.topology, config.size, config.routing);
    // From a packet in many hundred cycles to more than the network carries.
    threshold = (uint64_t{1} << 32) / one_of(700, 60, 9, 2) / config.packet_flits;
    begin = seed % 5 == 0 ? ~0u - 1500 : 0;  // numbers of cycles wrap
    measured_from = begin + 700;
    measured_to = begin + 2100;
  }
};

template <class Traffic, class Source, class Sink>
void lay_out_traffic(ArenaBuilder& arena, const TrafficCase& c, const noc::NetworkParams& p,
                     Traffic& t) {
  const uint32_t nodes = p.terminals;
  t.params.packet_flits = c.config.packet_flits;
  t.params.reply_flits = c.reply_flits;
  t.params.measure_begin = c.measured_from;
  t.params.measure_end = c.measured_to;
  t.sources = arena.allocate<Source>(nodes * p.vnets);
  t.sinks = arena.allocate<Sink>(nodes * p.vnets);
  t.last_vnet = arena.allocate<uint8_t>(nodes);
  t.destinations = arena.allocate<uint16_t>(static_cast<uint32_t>(c.topology.receivers.size()));
  std::copy(c.topology.receivers.begin(), c.topology.receivers.end(), arena.get(t.destinations));
  const uint32_t drawing = c.reply_flits != 0 ? 1 : p.vnets;
  for (const uint32_t n : c.topology.senders) {
    for (uint32_t k = 0; k < p.vnets; ++k) {
      Source& s = arena.get(t.sources)[n * p.vnets + k];
      s.random = n * 1000003 + k;
      s.threshold = k < drawing ? c.threshold : 0;
      s.others = {0, t.destinations.count};
      s.next_draw = c.begin;
    }
  }
}

/// The visible state of a source and its sink.
using TrafficSeen = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint64_t, uint64_t,
                               uint64_t, uint64_t, uint64_t, uint64_t, uint32_t>;
template <class Traffic>
std::vector<TrafficSeen> traffic_seen(const Traffic& t, std::byte* base) {
  std::vector<TrafficSeen> all;
  for (uint32_t i = 0; i < t.sources.count; ++i) {
    const auto& from = t.sources.in(base)[i];
    const auto& to = t.sinks.in(base)[i];
    all.emplace_back(from.random, from.created_packets, from.sent_flits, from.measured_packets,
                     from.next_draw, to.flits, to.packets, to.measured, to.latency,
                     to.network_latency, to.hops, to.max_latency);
  }
  return all;
}

TEST(NocTrafficEquality, SleepingTerminalsDoTheSame) {
  uint64_t packets = 0;
  uint32_t request_reply = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const TrafficCase c(seed);
    noc::NetworkParams p = noc::params_of(c.config, c.topology);
    flit_by_flit::NetworkParams q = flit_by_flit::params_like(p);

    ArenaBuilder arena;
    noc::StandaloneState today;
    today.net = noc::make_network(arena, p, c.config.link_latency);
    noc::wire(c.topology, p, today.net, arena.base(), c.config.link_latency);
    lay_out_traffic<noc::TrafficState, noc::Source, noc::Sink>(arena, c, p, today.traffic);
    today.traffic.wakes = arena.allocate<noc::Cycle>(p.terminals);

    ArenaBuilder other;
    const auto net = flit_by_flit::make_network(other, q, c.config.link_latency);
    flit_by_flit::wire(c.topology, q, net, other.base(), c.config.link_latency);
    flit_by_flit::TrafficState traffic;
    lay_out_traffic<flit_by_flit::TrafficState, flit_by_flit::Source, flit_by_flit::Sink>(
        other, c, p, traffic);
    traffic.credits = other.allocate<uint16_t>(p.terminals * p.vcs);
    std::fill_n(other.get(traffic.credits), p.terminals * p.vcs, static_cast<uint16_t>(p.depth));
    if (c.reply_flits != 0) {
      ++request_reply;
      today.traffic.responders = arena.allocate<noc::Responder>(p.terminals);
      today.traffic.owed = arena.allocate<noc::OwedReply>(p.terminals * noc::kOwedReplies);
      traffic.responders = other.allocate<flit_by_flit::Responder>(p.terminals);
      traffic.owed =
          other.allocate<flit_by_flit::OwedReply>(p.terminals * flit_by_flit::kOwedReplies);
      traffic.held = other.allocate<flit_by_flit::Flit>(p.terminals * p.vcs * p.depth);
      traffic.held_queues = other.allocate<flit_by_flit::StageQueue>(p.terminals * p.vcs);
    }

    noc::renew_places(noc::view_of(p, today.net, arena.base()), c.begin, true);
    const auto v = flit_by_flit::view_of(q, net, other.base());
    const flit_by_flit::SyntheticTerminals terminals(traffic, other.base());
    uint64_t now = c.begin;
    for (const uint32_t cycles : {1u, 2u, 7u, 400u, 33u, 1000u, 1557u}) {
      noc::step_standalone(p, today, arena.base(), Window{now, now + cycles});
      flit_by_flit::step_network(v, terminals, static_cast<uint32_t>(now),
                                 static_cast<uint32_t>(now + cycles));
      now += cycles;
      ASSERT_TRUE(traffic_seen(today.traffic, arena.base()) == traffic_seen(traffic, other.base()))
          << "seed " << seed << " until " << now - c.begin << ": " << c.config.topology << ", "
          << c.config.vcs << " VCs of " << c.config.buffers << " in " << c.config.vnets
          << ", replies of " << c.reply_flits << ", threshold " << c.threshold;
    }
    for (uint32_t i = 0; i < today.traffic.sinks.count; ++i)
      packets += arena.get(today.traffic.sinks)[i].packets;
  }
  EXPECT_GT(packets, 50000u);
  EXPECT_GT(request_reply, 5u);
}

}  // namespace
}  // namespace nearwarp::testing
