// Are a switch's unloaded latency, serialisation, fairness, back-pressure and virtual channels
// right?
#include "device/noc/switch.h"

#include <gtest/gtest.h>

#include "tests/memory/period.h"
#include "tests/support/rig.h"

namespace nearwarp::testing::switch_test {
namespace {

constexpr uint32_t kFlit = 32;

/// n inputs to m outputs, destinations 0..m-1, each on its own port unless told otherwise.
struct SwitchRig {
  Rig rig;
  SwitchParams params;
  Ref<SwitchState> state;
  std::vector<std::shared_ptr<MockProducer>> in;
  std::vector<std::shared_ptr<MockConsumer>> out;
  std::vector<Ref<Channel>> in_channels, out_channels;

  SwitchRig(std::vector<uint16_t> in_ports, std::vector<uint16_t> out_ports,
            ChannelSpec spec = {8, 20, 20, 0, 1}) {
    params.period = kPeriod;
    params.flit_bytes = kFlit;
    params.endpoints = static_cast<uint16_t>(out_ports.size());
    std::vector<SwitchLink> inputs, outputs;
    std::vector<Ref<Channel>> listened;
    for (const uint16_t port : in_ports) inputs.push_back({rig.channel(spec), port});
    for (const uint16_t port : out_ports) outputs.push_back({rig.channel(spec), port});
    for (const SwitchLink& link : inputs) in_channels.push_back(link.channel);
    for (const SwitchLink& link : outputs) out_channels.push_back(link.channel);
    const SwitchState s = make_switch(rig.arena, params, inputs, outputs);
    for (uint16_t o = 0; o < outputs.size(); ++o) {
      set_route(params, s, rig.arena.base(), o, o, o);
    }
    state = rig.arena.allocate<SwitchState>(1);
    *rig.arena.get(state) = s;
    for (const auto& c : in_channels) in.push_back(rig.producer(c, kPeriod));
    rig.add([this](std::byte* base, Window w,
                   Horizon& h) { return step_switch(params, *state.in(base), base, w, h); },
            in_channels);
    for (const auto& c : out_channels) out.push_back(rig.consumer(c, kPeriod));
  }
  void send(std::size_t i, Tick at, uint16_t dst, uint16_t bytes, uint32_t tag = 0,
            PacketKind kind = PacketKind::kRead) {
    in[i]->items.push_back({at, make_packet(kind, 0, dst, bytes, tag)});
  }
  const SwitchCounters& counters() { return rig.arena.get(state)->counters; }
};

TEST(Switch, UnloadedLatencyIsOneHopOnEachSide) {
  SwitchRig r({0, 1}, {0, 1});
  r.send(0, 0, 1, 8);
  r.rig.run({20}, 100000);
  ASSERT_EQ(r.out[1]->items.size(), 1u);
  EXPECT_EQ(r.out[1]->items[0].at, 40u);  // 20 in, moved at once, 20 out
  EXPECT_TRUE(r.rig.drained());
}

TEST(Switch, LastFlitArrivesAfterTheFirst) {
  SwitchRig r({0}, {0});
  r.send(0, 0, 0, 136);  // 5 flits
  r.rig.run({20}, 100000);
  ASSERT_EQ(r.out[0]->items.size(), 1u);
  EXPECT_EQ(r.out[0]->items[0].at, 40u + 4 * kPeriod);
}

TEST(Switch, PortIsBusyForEveryFlit) {
  SwitchRig r({0}, {0});
  for (int i = 0; i < 4; ++i) r.send(0, 0, 0, 136);
  r.rig.run({20}, 100000);
  ASSERT_EQ(r.out[0]->items.size(), 4u);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(r.out[0]->items[i].at - r.out[0]->items[i - 1].at, 5 * kPeriod);
  }
  EXPECT_EQ(r.counters().flits, 20u);
  EXPECT_EQ(r.counters().port_busy_ticks, 20u * kPeriod);
}

TEST(Switch, ChannelsOfOneInputPortShareIt) {
  SwitchRig r({0, 0, 0, 0}, {0, 1, 2, 3});
  for (uint16_t i = 0; i < 4; ++i) r.send(i, 0, i, 40);  // 2 flits each, no conflict at outputs
  r.rig.run({20}, 100000);
  std::vector<Tick> arrivals;
  for (auto& o : r.out) arrivals.push_back(o->items.at(0).at);
  std::sort(arrivals.begin(), arrivals.end());
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(arrivals[i], 50u + i * 2 * kPeriod);
}

TEST(Switch, ChannelsOfOneOutputPortShareIt) {
  SwitchRig r({0, 1}, {0, 0});
  r.send(0, 0, 0, 64);
  r.send(1, 0, 1, 64);
  r.rig.run({20}, 100000);
  const Tick a = r.out[0]->items.at(0).at, b = r.out[1]->items.at(0).at;
  EXPECT_EQ(std::max(a, b) - std::min(a, b), 2 * kPeriod);
}

TEST(Switch, ContendersTakeTurns) {
  SwitchRig r({0, 1, 2}, {0}, {16, 20, 20, 0, 1});
  for (uint32_t n = 0; n < 30; ++n) {
    for (std::size_t i = 0; i < 3; ++i) r.send(i, 0, 0, 8, static_cast<uint32_t>(i));
  }
  r.rig.run({20}, 100000);
  const auto& got = r.out[0]->items;
  ASSERT_EQ(got.size(), 90u);
  for (std::size_t k = 3; k < got.size(); ++k) {
    EXPECT_EQ(got[k].packet.tag, got[k - 3].packet.tag);  // strict rotation
    EXPECT_EQ(got[k].at - got[k - 1].at, kPeriod);        // and no bubble
  }
}

TEST(Switch, DisjointPairsMoveInTheSameCycle) {
  SwitchRig r({0, 1, 2, 3}, {0, 1, 2, 3});
  for (uint16_t i = 0; i < 4; ++i) r.send(i, 0, static_cast<uint16_t>(3 - i), 8);
  r.rig.run({20}, 100000);
  for (auto& o : r.out) EXPECT_EQ(o->items.at(0).at, 40u);
}

TEST(Switch, BlockedOutputHoldsOnlyItsOwnChannel) {
  SwitchRig r({0, 0}, {0, 1}, {1, 20, 20, 0, 1});
  r.out[0]->from = 5000;
  for (int i = 0; i < 3; ++i) r.send(0, 0, 0, 8);
  for (int i = 0; i < 3; ++i) r.send(1, 0, 1, 8);
  r.rig.run({20}, 100000);
  ASSERT_EQ(r.out[1]->items.size(), 3u);
  EXPECT_LT(r.out[1]->items.back().at, 1000u);
  ASSERT_EQ(r.out[0]->items.size(), 3u);
  EXPECT_EQ(r.out[0]->items[0].at, 5000u);
  // One slot: 20 for the credit, 20 for the packet.
  EXPECT_EQ(r.out[0]->items[1].at, 5040u);
  EXPECT_TRUE(r.rig.drained());
}

TEST(Switch, RepliesPassBlockedRequestsOnAnotherVirtualChannel) {
  // Destination 0 is reached by output 0 for requests and output 1 for replies; both share a port.
  SwitchRig r({0, 0}, {0, 0}, {1, 20, 20, 0, 1});
  set_route(r.params, *r.rig.arena.get(r.state), r.rig.arena.base(), 0, 0, 1);
  r.out[0]->from = 5000;
  for (int i = 0; i < 3; ++i) r.send(0, 0, 0, 8, 0, PacketKind::kRead);
  for (int i = 0; i < 3; ++i) r.send(1, 0, 0, 8, 0, PacketKind::kReadReply);
  r.rig.run({20}, 100000);
  ASSERT_EQ(r.out[1]->items.size(), 3u);
  EXPECT_LT(r.out[1]->items.back().at, 1000u);
  EXPECT_EQ(r.counters().replies, 3u);
  EXPECT_TRUE(r.rig.drained());
}

TEST(Switch, VirtualChannelsOfOnePortShareTheWire) {
  // 1 tick per byte on both channels of the port: 100-byte packets alternate every 100 ticks.
  SwitchRig r({0, 1}, {0, 0}, {8, 20, 20, 1, 1});
  r.params.flit_bytes = 1000;
  for (int i = 0; i < 5; ++i) {
    r.send(0, 0, 0, 100);
    r.send(1, 0, 1, 100);
  }
  r.rig.run({20}, 100000);
  std::vector<Tick> arrivals;
  for (auto& o : r.out) {
    for (auto& item : o->items) arrivals.push_back(item.at);
  }
  std::sort(arrivals.begin(), arrivals.end());
  ASSERT_EQ(arrivals.size(), 10u);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_GE(arrivals[i] - arrivals[i - 1], 100u);
  EXPECT_EQ(arrivals[9] - arrivals[0], 900u);
}

TEST(Switch, MissingRouteIsAFault) {
  SwitchRig r({0}, {0});
  r.send(0, 0, 7, 8);
  r.rig.run({20}, 1000);
  EXPECT_EQ(r.rig.arena.get(r.state)->fault.code, kFaultNoRoute);
}

TEST(Switch, SleepsWhenIdle) {
  SwitchRig r({0}, {0});
  r.send(0, 0, 0, 8);
  r.send(0, 1000000, 0, 8);
  r.rig.run({20}, 10000000);
  EXPECT_EQ(r.out[0]->items.size(), 2u);
  EXPECT_LT(r.rig.steps, 40u);
}

}  // namespace
}  // namespace nearwarp::testing::switch_test
