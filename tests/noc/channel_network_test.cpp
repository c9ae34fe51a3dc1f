// Do routers between channels keep time, order, packets and credits, however they are stepped?
#include <gtest/gtest.h>

#include <map>

#include "tests/noc/network_rig.h"

namespace nearwarp::testing {
namespace {

TEST(ChannelNetwork, UnloadedLatency) {
  const auto latency = [](const std::string& topology, uint16_t bytes, uint32_t routing_delay) {
    auto keys = network(topology);
    keys.push_back("interconnect.routing_delay_cycles=" + std::to_string(routing_delay));
    NetworkRig r(keys);
    r.send(0, 100, 1, bytes);
    r.rig.run({40}, 100000);
    EXPECT_EQ(r.out[1]->items.size(), 1u);
    return r.out[1]->items.empty() ? 0 : r.out[1]->items[0].at - 100;
  };
  // 40 ticks in, 40 out; one router, 7 cycles for a flit of 32 bytes.
  EXPECT_EQ(latency("crossbar", 32, 1), 80 + 7 * kPeriod);
  EXPECT_EQ(latency("crossbar", 32, 0), 80 + 6 * kPeriod);
  EXPECT_EQ(latency("crossbar", 33, 1), 80 + 8 * kPeriod);
  EXPECT_EQ(latency("crossbar", 160, 1), 80 + 11 * kPeriod);
  EXPECT_EQ(latency("butterfly", 32, 1), 80 + (2 * 5 + 2) * kPeriod);  // 2 x 2 ports, four of them
  // Seven nodes in rows of three, memory ports at nodes 1, 3 and 5: output 1 is below cluster 0.
  EXPECT_EQ(latency("mesh", 32, 1), 80 + (2 * 5 + 2) * kPeriod);
}

TEST(ChannelNetwork, SpeedUpPutsBothAllocationsIntoACycle) {
  for (const uint16_t bytes : {32, 160}) {
    NetworkRig r(fast_network("crossbar"));
    r.send(0, 100, 1, bytes);
    r.rig.run({40}, 100000);
    ASSERT_EQ(r.out[1]->items.size(), 1u);
    EXPECT_EQ(r.out[1]->items[0].at - 100, 80 + (4u + bytes / 32) * kPeriod);
  }
}

/// Ports that hand several flits to the switch at a time, virtual channels that are given away
/// late.
std::vector<std::string> patient_network(const std::string& topology) {
  auto keys = network(topology);
  keys.insert(keys.end(),
              {"interconnect.vcs=4", "interconnect.internal_speedup=2",
               "interconnect.input_speedup=2", "interconnect.wait_for_tail_credit=true"});
  return keys;
}

TEST(ChannelNetwork, WaitingForTailCreditsKeepsPacketsOfAChannelApart) {
  // Packets of a flit on one virtual channel: an interface sends the next one when the credit of
  // the last is back. With a flit there 2 cycles after it was sent, 2 more to its winning the
  // switch, and 2 for the credit, that is every 6 cycles.
  const auto spacing = [](const std::string& wait) {
    auto keys = network("crossbar");
    keys.insert(keys.end(),
                {"interconnect.routing_delay_cycles=1", "interconnect.vcs=1",
                 "interconnect.flit_by_flit=true", "interconnect.wait_for_tail_credit=" + wait});
    NetworkRig r(keys);
    for (uint32_t k = 0; k < 20; ++k) r.send(0, 0, 1, 32, k);
    r.rig.run({40}, 100000);
    const auto& items = r.out[1]->items;
    EXPECT_EQ(items.size(), 20u);
    return items.size() == 20 ? (items[19].at - items[9].at) / 10 : 0;
  };
  EXPECT_EQ(spacing("true"), 6 * kPeriod);
  EXPECT_EQ(spacing("false"), 3 * kPeriod);  // routing, VC allocation, the switch
}

TEST(ChannelNetwork, SplitPacketsWaitForTheirTailCreditsLikeOthers) {
  const auto arrival = [](uint16_t bytes) {
    auto keys = network("crossbar");
    keys.insert(keys.end(),
                {"interconnect.routing_delay_cycles=1", "interconnect.wait_for_tail_credit=true",
                 "interconnect.split_packets=true"});
    NetworkRig r(keys);
    r.send(0, 100, 1, bytes);
    r.rig.run({40}, 100000);
    return r.out[1]->items.at(0).at;
  };
  EXPECT_EQ(arrival(160), arrival(32) + 4 * 6 * kPeriod);
}

TEST(ChannelNetwork, InputSpeedUpIsBoundByVirtualChannelsAndPorts) {
  const auto message = [](const std::vector<std::string>& keys) -> std::string {
    try {
      NetworkRig r(keys);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  auto keys = fast_network("crossbar");  // one virtual channel
  keys.push_back("interconnect.input_speedup=2");
  EXPECT_NE(message(keys).find("interconnect.vcs"), std::string::npos) << message(keys);
  keys = network("crossbar");
  keys.push_back("interconnect.input_speedup=8");
  EXPECT_EQ(message(keys), "");  // four ports
  keys = network("butterfly");
  keys.insert(keys.end(), {"interconnect.butterfly_radix=16", "interconnect.input_speedup=8"});
  EXPECT_NE(message(keys).find("128 inputs of the switch"), std::string::npos) << message(keys);
}

enum class Kind { kPlain, kFast, kSplit, kPatient };

class ChannelNetworks : public ::testing::TestWithParam<std::tuple<const char*, Kind>> {
 protected:
  std::vector<std::string> keys() const {
    const auto [topology, kind] = GetParam();
    if (kind == Kind::kPlain) return network(topology);
    if (kind == Kind::kPatient) return patient_network(topology);
    auto keys = fast_network(topology);
    if (kind == Kind::kSplit) keys.push_back("interconnect.split_packets=true");
    return keys;
  }
};

INSTANTIATE_TEST_SUITE_P(All, ChannelNetworks,
                         ::testing::Combine(::testing::Values("crossbar", "mesh", "butterfly"),
                                            ::testing::Values(Kind::kPlain, Kind::kFast,
                                                              Kind::kSplit, Kind::kPatient)));

TEST_P(ChannelNetworks, NothingIsLostAndOrderIsKeptWhereItMeansSomething) {
  const auto [topology, kind] = GetParam();
  NetworkRig r(keys());
  const uint32_t sent = r.send_many();
  r.rig.run({40}, 1000000);
  std::map<std::pair<Endpoint, uint16_t>, uint32_t> last, last_ordered;
  uint32_t received = 0, overtakings = 0;
  for (uint16_t o = 0; o < NetworkRig::kOutputs; ++o) {
    for (const MockConsumer::Item& item : r.out[o]->items) {
      EXPECT_EQ(item.packet.dst, o);
      uint32_t& before = last[{item.packet.src, o}];
      overtakings += item.packet.tag < before ? 1 : 0;
      before = std::max(before, item.packet.tag);
      received += 1;
      if (item.packet.kind != NetworkRig::kOrdered) continue;
      uint32_t& ordered = last_ordered[{item.packet.src, o}];
      EXPECT_GE(item.packet.tag, ordered) << topology;
      ordered = item.packet.tag;
    }
  }
  EXPECT_EQ(received, sent) << topology;
  // Packets cannot overtake with one virtual channel, or with one for all packets of an output.
  if (kind == Kind::kPlain) {
    EXPECT_GT(overtakings, 0u) << topology;
  } else if (kind != Kind::kPatient) {
    EXPECT_EQ(overtakings, 0u) << topology;
  }
  EXPECT_TRUE(r.rig.drained()) << topology;
  const noc::ChannelEndsState& s = r.ends();
  EXPECT_EQ(s.flits_inside, 0u);
  EXPECT_EQ(s.counters.packets_in, sent);
  EXPECT_EQ(s.counters.packets_out, sent);
  EXPECT_EQ(s.fault.code, kFaultNone);
}

/// The arrival times of the tails of two packets, of four flits each, that want an output at once.
std::vector<Tick> two_at_once(bool split) {
  auto keys = fast_network("crossbar");
  keys.push_back(split ? "interconnect.split_packets=true" : "interconnect.split_packets=false");
  NetworkRig r(keys);
  r.send(0, 100, 1, 128, 7);
  r.send(2, 100, 1, 128, 8);
  r.rig.run({40}, 100000);
  std::vector<Tick> at;
  for (const auto& item : r.out[1]->items) at.push_back(item.at);
  return at;
}

TEST(ChannelNetwork, SplitPacketsTakeTurns) {
  // The second packet follows the first. Flits that are packets of their own take turns, and all
  // eight take as long as before.
  const auto whole = two_at_once(false), split = two_at_once(true);
  ASSERT_EQ(whole.size(), 2u);
  ASSERT_EQ(split.size(), 2u);
  EXPECT_EQ(whole[1] - whole[0], 4 * kPeriod);
  EXPECT_EQ(split[1] - split[0], kPeriod);
  EXPECT_EQ(split[1], whole[1]);
}

TEST(ChannelNetwork, SplitRequestsHaveAFlitForEachSector) {
  const auto arrival = [](bool split, uint32_t sectors) {
    auto keys = fast_network("crossbar");
    if (split) keys.push_back("interconnect.split_packets=true");
    NetworkRig r(keys);
    r.send(0, 100, 1, 8);
    r.in[0]->items.back().packet.sectors = sectors;
    r.rig.run({40}, 100000);
    return r.out[1]->items.at(0).at;
  };
  const Tick one = arrival(false, 0xf);
  EXPECT_EQ(arrival(true, 0), one);
  EXPECT_EQ(arrival(true, 1), one);
  EXPECT_EQ(arrival(true, 0xf), one + 3 * kPeriod);
}

TEST(ChannelNetwork, ABlockedOutputHoldsItsPacketsAndLetsOthersPass) {
  NetworkRig r(network("crossbar"));
  r.out[0]->from = 50000;
  for (uint32_t k = 0; k < 100; ++k)
    for (uint16_t o = 0; o < 2; ++o) r.send(2 * o, k, o, 136, k);
  r.rig.run({40}, 200000);
  ASSERT_EQ(r.out[0]->items.size(), 100u);
  ASSERT_EQ(r.out[1]->items.size(), 100u);
  EXPECT_EQ(r.out[0]->items.front().at, 50000u);
  EXPECT_LT(r.out[1]->items.back().at, 10000u);
  EXPECT_TRUE(r.rig.drained());
}

TEST_P(ChannelNetworks, HowItIsSteppedDoesNotShow) {
  const auto topology = std::get<0>(GetParam());
  const auto outcome = [&](const RunOptions& options, bool general) {
    NetworkRig r(keys(), general, {2, 40, 40, 1, 8});
    r.out[2]->from = 3000;
    r.send_many();
    r.rig.run(options, 40000);
    EXPECT_TRUE(r.rig.drained()) << topology;
    return r.rig.hash();
  };
  const uint64_t expected = outcome({40}, false);
  EXPECT_EQ(outcome({1, 0, false}, false), expected) << topology;
  EXPECT_EQ(outcome({13, 5}, false), expected) << topology;
  EXPECT_EQ(outcome({37, 9, false}, true), expected) << topology;
  EXPECT_EQ(outcome({40, 3}, true), expected) << topology;
}

TEST(ChannelNetwork, SleepsWhenNothingIsUnderWay) {
  NetworkRig r(network("mesh"));
  r.send(0, 0, 1, 32);
  r.send(0, 1000000, 1, 32);
  r.rig.run({40}, 3000000);
  ASSERT_EQ(r.out[1]->items.size(), 2u);
  EXPECT_EQ(r.out[1]->items[1].at - r.out[1]->items[0].at, 1000000u);
  EXPECT_LT(r.rig.steps, 100u);
}

TEST(ChannelNetwork, APacketWithoutRouteIsAFault) {
  NetworkRig r(network("crossbar"));
  r.send(0, 0, NetworkRig::kOutputs, 32);
  r.rig.run({40}, 2000);
  EXPECT_EQ(r.ends().fault.code, kFaultNoRoute);
}

}  // namespace
}  // namespace nearwarp::testing
