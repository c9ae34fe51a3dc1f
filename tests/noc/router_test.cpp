// Do routers take exactly the cycles of their pipeline, and do credits and channels hold?
#include <gtest/gtest.h>

#include <map>

#include "host/timing/noc/bounds.h"
#include "tests/noc/scripted.h"

namespace nearwarp::testing {
namespace {

noc::NocConfig mesh(const std::string& size) {
  noc::NocConfig c;
  c.size = size;
  return c;
}

/// Latency of one packet alone in the network.
noc::Cycle alone(const noc::NocConfig& c, uint32_t source, uint32_t destination) {
  ScriptedNetwork n(c);
  n.terminals.packets = {{10, source, destination, c.packet_flits, 0}};
  n.run(150);
  return n.tail_at(0) - 10;
}

TEST(Router, OneRouterTakesSevenCyclesAndOnePerFurtherFlit) {
  noc::NocConfig c = mesh("1x1");
  EXPECT_EQ(alone(c, 0, 0), 7u);
  c.packet_flits = 5;
  EXPECT_EQ(alone(c, 0, 0), 11u);
  c.routing_delay = 0;
  EXPECT_EQ(alone(c, 0, 0), 10u);
}

TEST(Router, AnUnloadedMeshTakesFiveCyclesPerRouter) {
  for (const char* routing : {"xy", "yx"}) {
    for (const uint32_t flits : {1u, 5u}) {
      for (const uint32_t routing_delay : {0u, 1u}) {
        noc::NocConfig c = mesh("5x4");
        c.routing = routing;
        c.packet_flits = flits;
        c.routing_delay = routing_delay;
        for (uint32_t s = 0; s < 20; ++s) {
          for (uint32_t d = 0; d < 20; ++d) {
            const int dx = std::abs(static_cast<int>(s % 5) - static_cast<int>(d % 5));
            const int dy = std::abs(static_cast<int>(s / 5) - static_cast<int>(d / 5));
            const auto routers = static_cast<uint32_t>(dx + dy + 1);
            ASSERT_EQ(alone(c, s, d), (4 + routing_delay) * routers + 2 + flits - 1)
                << s << " to " << d << ", " << routing << ", " << flits << " flits";
          }
        }
      }
    }
  }
}

TEST(Router, EveryDelayCountsOncePerRouter) {
  const noc::Cycle plain = alone(mesh("3x1"), 0, 2);
  const auto longer = [&](auto change) {
    noc::NocConfig c = mesh("3x1");
    change(c);
    EXPECT_EQ(alone(c, 0, 2), noc::zero_load_latency(c, 3, c.packet_flits));
    return alone(c, 0, 2) - plain;
  };
  EXPECT_EQ(longer([](auto& c) { c.routing_delay = 3; }), 3 * 2u);
  EXPECT_EQ(longer([](auto& c) { c.vc_alloc_delay = 2; }), 3u);
  EXPECT_EQ(longer([](auto& c) { c.sw_alloc_delay = 4; }), 3 * 3u);
  EXPECT_EQ(longer([](auto& c) { c.traversal_delay = 2; }), 3u);
  EXPECT_EQ(longer([](auto& c) { c.link_latency = 6; }), 2 * 5u);
  EXPECT_EQ(longer([](auto& c) { c.credit_delay = 9; }), 0u);
}

noc::NocConfig sped_up(const std::string& topology, const std::string& size) {
  noc::NocConfig c;
  c.topology = topology;
  c.size = size;
  c.speedup = 2;
  return c;
}

TEST(Router, UnderASpeedUpOfTwoEveryStageTakesHalfACycle) {
  // Four stages in two cycles, as BookSim2's internal_speedup 2; three end in the second as well.
  for (const uint32_t routing_delay : {0u, 1u}) {
    noc::NocConfig c = sped_up("crossbar", "3x2");
    c.routing_delay = routing_delay;
    EXPECT_EQ(alone(c, 1, 4), 5u);
    c.packet_flits = 5;
    EXPECT_EQ(alone(c, 1, 4), 9u);
    c = sped_up("mesh", "5x4");
    c.routing_delay = routing_delay;
    for (uint32_t d = 0; d < 20; ++d) {
      const uint32_t routers = d % 5 + d / 5 + 1;
      ASSERT_EQ(alone(c, 0, d), 3 * routers + 2) << d;
      ASSERT_EQ(alone(c, 0, d), noc::zero_load_latency(c, routers, 1));
    }
  }
}

TEST(Router, StagesOfSeveralCyclesEndInTheFirstHalfOfTheLast) {
  const auto cycles = [](auto change) {
    noc::NocConfig c = sped_up("crossbar", "2");
    change(c);
    EXPECT_EQ(alone(c, 0, 1), noc::zero_load_latency(c, 1, c.packet_flits));
    return alone(c, 0, 1);
  };
  // Halves of cycles, from the head's arrival on: routing ends in the one named, VC allocation,
  // switch allocation and traversal are in those that follow; it leaves at the end of that cycle.
  EXPECT_EQ(cycles([](auto& c) { c.routing_delay = 2; }), 3 + 3u);    // 2; 3, 4, 5
  EXPECT_EQ(cycles([](auto& c) { c.routing_delay = 3; }), 3 + 4u);    // 4; 5, 6, 7
  EXPECT_EQ(cycles([](auto& c) { c.vc_alloc_delay = 2; }), 3 + 3u);   // 0; from 1 to 2; 3, 4
  EXPECT_EQ(cycles([](auto& c) { c.sw_alloc_delay = 2; }), 3 + 3u);   // 0, 1; from 2 to 4; 5
  EXPECT_EQ(cycles([](auto& c) { c.traversal_delay = 2; }), 3 + 3u);  // 0, 1, 2; from 3 to 4
  EXPECT_EQ(cycles([](auto& c) {
              c.routing_delay = 0;
              c.sw_alloc_delay = 2;
            }),
            3 + 2u);  // 0; from 1 to 2; 3
  // Flits of a packet enter switch allocation one after the other, the second half a cycle after
  // the first has won it, and so win a cycle apart; with three cycles, two apart.
  EXPECT_EQ(cycles([](auto& c) {
              c.sw_alloc_delay = 2;
              c.packet_flits = 5;
            }),
            3 + 3 + 4u);
  EXPECT_EQ(cycles([](auto& c) {
              c.sw_alloc_delay = 3;
              c.packet_flits = 5;
            }),
            3 + 4 + 2 * 4u);
}

TEST(Router, AFlitThatWinsInTheFirstHalfLeavesInTheSameCycle) {
  // Two packets of one flit meet at an output. Their heads are there in cycle 2, are routed and get
  // channels in its halves; one wins the switch in the first half of cycle 3 and leaves in it, the
  // other in the second half, and is over the switch when the wire is free again, in cycle 4.
  ScriptedNetwork n(sped_up("crossbar", "2x1"));
  n.terminals.packets = {{0, 0, 2, 1, 0}, {0, 1, 2, 1, 0}};
  n.run(50);
  EXPECT_EQ(n.tail_at(0), 5u);
  EXPECT_EQ(n.tail_at(1), 6u);
}

TEST(Router, EveryTopologyTakesItsRoutersTime) {
  noc::NocConfig c;
  c.topology = "butterfly";
  c.size = "2x4";
  for (uint32_t s = 0; s < 16; ++s) {
    for (uint32_t d = 0; d < 16; ++d) ASSERT_EQ(alone(c, s, d), 5 * 4 + 2u) << s << " to " << d;
  }
  c.topology = "full";
  c.size = "6";
  for (uint32_t d = 0; d < 6; ++d) EXPECT_EQ(alone(c, 2, d), d == 2 ? 7u : 12u);
  c.topology = "crossbar";
  c.size = "3x2";
  for (uint32_t d = 3; d < 5; ++d) EXPECT_EQ(alone(c, 1, d), 7u);
  c.size = "64";
  EXPECT_EQ(alone(c, 63, 63), 7u);
}

/// Cycles between the flits of one long packet at its destination.
noc::Cycle spacing(noc::NocConfig c, uint32_t vc = 0) {
  ScriptedNetwork n(c);
  n.terminals.packets = {{0, 0, 1, 20, vc}};
  n.run(2000);
  const auto& a = n.terminals.arrivals;
  return a.size() == 20 ? (a[19].at - a[7].at) / 12 : 0;
}

TEST(Router, CreditsComeBackAfterTheirRoundTrip) {
  noc::NocConfig c = mesh("2x1");
  c.vcs = 1;
  EXPECT_EQ(spacing(c), 1u);
  // Switch, wire, next switch, wire back: a buffer of one flit moves one every five cycles.
  c.buffers = 1;
  EXPECT_EQ(spacing(c), 5u);
  c.credit_delay = 2;
  EXPECT_EQ(spacing(c), 7u);
  c.credit_delay = 0;
  c.link_latency = 4;
  EXPECT_EQ(spacing(c), 5 + 2 * 3u);
  c.link_latency = 1;
  c.buffers = 5;
  EXPECT_EQ(spacing(c), 1u);
}

TEST(Router, AChannelIsFreeWhenTheTailHasWonTheSwitch) {
  // Two packets from different inputs want the only channel of one output. The second gets it in
  // the cycle after the first's tail has left the switch, and needs another for the switch.
  noc::NocConfig c = mesh("3x1");
  c.vcs = 1;
  ScriptedNetwork n(c);
  n.terminals.packets = {{0, 1, 2, 7, 0}, {0, 0, 2, 1, 0}};
  n.run(200);
  EXPECT_EQ(n.tail_at(0), 2 * 5 + 2 + 6u);  // two routers, seven flits
  // Packet 0 reaches router 1 in cycle 2, its head wins the switch in 4 and its tail in 10. Packet
  // 1 is there since cycle 7; it gets the channel in 11, the switch in 12, and reaches router 2
  // in 15. There packet 0's tail wins the switch in that same cycle, so the head behind it is
  // routed in 16, gets a channel in 17, the switch in 18, and comes out in 21.
  EXPECT_EQ(n.tail_at(1), 21u);
}

TEST(Router, OnRequestAChannelIsFreeWhenTheTailsCreditIsBack) {
  // As above, but with credits of tails. At router 1 packet 0's tail wins the switch in cycle 10,
  // at router 2 in 15, behind the flits before it; its credit is back in 17. Packet 1 gets the
  // channel in 17, the switch in 18, is at router 2 in 21, is routed, gets its channel in 22, the
  // switch in 23, and comes out in 26.
  noc::NocConfig c = mesh("3x1");
  c.vcs = 1;
  c.wait_for_tail_credit = true;
  for (const uint32_t credit_delay : {0u, 3u}) {
    c.credit_delay = credit_delay;
    ScriptedNetwork n(c);
    n.terminals.packets = {{0, 1, 2, 7, 0}, {0, 0, 2, 1, 0}};
    n.run(200);
    EXPECT_EQ(n.tail_at(0), 2 * 5 + 2 + 6u);
    EXPECT_EQ(n.tail_at(1), 26u + credit_delay);
  }
}

TEST(Router, InputSpeedUpTakesFlitsOfDifferentChannelsFromOnePort) {
  // Packet 1 loses its output to packet 0 in cycle 4. In the next, packet 2 of the same port wants
  // the other one: with an input of the switch for each, both go.
  const auto last_two = [](uint32_t input_speedup, uint32_t vc) {
    noc::NocConfig c;
    c.topology = "crossbar";
    c.size = "2x2";
    c.input_speedup = input_speedup;
    ScriptedNetwork n(c);
    n.terminals.packets = {{0, 0, 2, 1, 0}, {0, 1, 2, 1, 0}, {1, 1, 3, 1, vc}};
    n.run(100);
    EXPECT_EQ(n.tail_at(0), 7u);
    return std::pair{n.tail_at(1), n.tail_at(2)};
  };
  EXPECT_EQ(last_two(1, 1), (std::pair{8u, 9u}));
  EXPECT_EQ(last_two(2, 1), (std::pair{8u, 8u}));
  EXPECT_EQ(last_two(2, 2), (std::pair{8u, 9u}));  // channels 0 and 2 share an input
  EXPECT_EQ(last_two(4, 2), (std::pair{8u, 8u}));
  EXPECT_EQ(last_two(4, 4), (std::pair{8u, 9u}));
}

TEST(Router, PacketsDoNotMixOnAChannel) {
  noc::NocConfig c = mesh("4x4");
  c.vcs = 2;
  ScriptedNetwork n(c);
  for (uint32_t i = 0; i < 300; ++i)
    n.terminals.packets.push_back({i / 4, i * 7 % 16, i * 5 % 3, 1 + i % 6, i % 2});
  n.run(5000);
  std::map<std::pair<uint32_t, uint8_t>, int64_t>
      open;  // packet under way, by terminal and channel
  std::map<uint32_t, uint32_t> flits;
  for (const Arrival& a : n.terminals.arrivals) {
    int64_t& packet = open.try_emplace({a.terminal, a.flit.vc}, -1).first->second;
    if ((a.flit.flags & noc::kHead) != 0) {
      EXPECT_EQ(packet, -1);
      packet = a.flit.tag;
    }
    EXPECT_EQ(packet, a.flit.tag);
    EXPECT_EQ(a.terminal, n.terminals.packets[a.flit.tag].destination);
    if ((a.flit.flags & noc::kTail) != 0) packet = -1;
    flits[a.flit.tag] += 1;
  }
  ASSERT_EQ(flits.size(), 300u);
  for (const auto& [tag, count] : flits) EXPECT_EQ(count, n.terminals.packets[tag].flits);
}

TEST(Router, ABlockedVirtualNetworkDoesNotBlockTheOther) {
  noc::NocConfig c = mesh("4x1");
  c.vcs = 4;
  c.vnets = 2;
  ScriptedNetwork n(c);
  n.terminals.mute = {true, true, false, false};
  for (uint32_t i = 0; i < 200; ++i) n.terminals.packets.push_back({i, 0, 3, 1, i % 2});
  for (uint32_t i = 0; i < 50; ++i) n.terminals.packets.push_back({300, 0, 3, 1, 2 + i % 2});
  n.run(1000);
  uint32_t blocked = 0, passed = 0;
  for (const Arrival& a : n.terminals.arrivals) (a.flit.vc < 2 ? blocked : passed) += 1;
  EXPECT_EQ(blocked, 2 * 8u);  // what the sink has room for
  EXPECT_EQ(passed, 50u);
}

TEST(Router, PacketsShareAnOutputFlitByFlit) {
  noc::NocConfig c;
  c.topology = "crossbar";
  c.size = "4x1";
  ScriptedNetwork n(c);
  for (uint32_t s = 0; s < 4; ++s) n.terminals.packets.push_back({0, s, 4, 300, s});
  n.run(1000);
  std::map<uint32_t, uint32_t> flits;
  for (const Arrival& a : n.terminals.arrivals) flits[a.flit.source] += 1;
  // The channels are handed out within four cycles; from then on the switch takes turns.
  for (uint32_t s = 0; s < 4; ++s) EXPECT_NEAR(flits[s], flits[0], 4) << s;
  EXPECT_EQ(n.terminals.arrivals.size(), 1000 - 7u);  // a flit per cycle since the first came out
}

}  // namespace
}  // namespace nearwarp::testing
