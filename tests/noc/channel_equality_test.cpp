// Does a machine's network of routers do what it does when each router is stepped in every cycle?
#include <gtest/gtest.h>

#include <random>

#include "tests/noc/flit_by_flit/channel_network.h"
#include "tests/noc/network_rig.h"

namespace nearwarp::testing {
namespace {

/// The rig's network in the other model, on channels of its own.
struct FlitByFlitRig {
  Rig rig;
  flit_by_flit::ChannelNetworkParams params;
  flit_by_flit::ChannelNetworkState state;
  std::vector<std::shared_ptr<MockProducer>> in;
  std::vector<std::shared_ptr<MockConsumer>> out;

  FlitByFlitRig(NetworkRig& like, const sim::RouterNetworkSpec& spec, const ChannelSpec& channel) {
    std::vector<SwitchLink> inputs, outputs;
    std::vector<Ref<Channel>> listened;
    for (uint16_t i = 0; i < NetworkRig::kInputs; ++i)
      inputs.push_back({rig.channel(channel), static_cast<uint16_t>(i / 2)});
    for (uint16_t i = 0; i < NetworkRig::kOutputs; ++i)
      outputs.push_back({rig.channel(channel), i});
    // Where terminals are, as today's network tells.
    noc::ChannelNetworkState& today = *like.rig.arena.get(like.network);
    std::vector<uint32_t> senders(NetworkRig::kInputs / 2), receivers(NetworkRig::kOutputs);
    for (uint32_t i = 0; i < NetworkRig::kInputs; ++i)
      senders[i / 2] = like.rig.arena.get(today.sender_of)[i];
    for (uint32_t o = 0; o < NetworkRig::kOutputs; ++o)
      receivers[o] = like.rig.arena.get(today.outputs)[o].terminal;
    // Only the topology of this network is wanted.
    const sim::RouterNetwork n =
        sim::make_router_network(rig.arena, spec, like.params, inputs, outputs);
    static_cast<noc::ChannelEndsParams&>(params) = like.params;
    params.net = flit_by_flit::params_like(like.params.net);
    const uint32_t latency = spec.routers.router_latency_cycles;
    const auto net = flit_by_flit::make_network(rig.arena, params.net, latency);
    flit_by_flit::wire(n.topology, params.net, net, rig.arena.base(), latency);
    state = flit_by_flit::make_channel_network(rig.arena, params, net, inputs, outputs, senders,
                                               receivers);
    for (uint16_t o = 0; o < NetworkRig::kOutputs; ++o)
      set_route(params, state, rig.arena.base(), o, o, o);
    for (const SwitchLink& l : inputs) {
      in.push_back(rig.producer(l.channel, kPeriod));
      listened.push_back(l.channel);
    }
    rig.add(
        [this](std::byte* base, Window w, Horizon& h) {
          return flit_by_flit::step_channel_network(params, state, base, w, h);
        },
        listened);
    for (const SwitchLink& l : outputs) out.push_back(rig.consumer(l.channel, kPeriod));
  }
};

/// Everything that can be seen from outside.
struct SeenOfModel {
  std::vector<Tick> sent, arrived;
  std::vector<uint32_t> tags;
  uint64_t flits = 0, injection = 0, transit = 0, ejection = 0, hops = 0;
  bool operator==(const SeenOfModel&) const = default;
};

template <class R>
SeenOfModel seen_of(R& r, const noc::ChannelEndsState& ends, const auto* ports, uint32_t n_ports) {
  SeenOfModel seen;
  for (const auto& in : r.in)
    for (const auto& item : in->items) seen.sent.push_back(item.sent);
  for (const auto& out : r.out) {
    for (const auto& item : out->items) {
      seen.arrived.push_back(item.at);
      seen.tags.push_back(item.packet.tag);
    }
  }
  seen.flits = ends.counters.flits;
  seen.injection = ends.times.injection;
  seen.transit = ends.times.transit;
  seen.ejection = ends.times.ejection;
  for (uint32_t i = 0; i < n_ports; ++i) seen.hops += ports[i].flits_sent;
  return seen;
}

template <class R>
void send_load(R& r, uint32_t seed) {
  std::mt19937 random(seed);
  const uint32_t spacings[] = {40, 200, 2000};
  const uint32_t spacing = spacings[seed % 3], longest = seed % 2 == 0 ? 160 : 600;
  for (uint32_t i = 0; i < NetworkRig::kInputs; ++i) {
    Tick at = 0;
    for (uint32_t k = 0; k < 60; ++k) {
      at += random() % spacing;
      const auto to = static_cast<uint16_t>(random() % NetworkRig::kOutputs);
      const PacketKind kind = random() % 4 == 0 ? NetworkRig::kOrdered : PacketKind::kRead;
      const auto bytes = static_cast<uint16_t>(1 + random() % longest);
      r.in[i]->items.push_back({at, make_packet(kind, static_cast<uint16_t>(i), to, bytes, k)});
      r.in[i]->items.back().packet.sectors = random() % 16;
    }
  }
  if (seed % 5 == 0) r.out[1]->period = 9 * kPeriod;  // slow
  if (seed % 7 == 0) r.out[2]->from = 20000;          // stands still for a while
}

std::vector<std::string> random_keys(uint32_t seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](std::vector<uint32_t> values) {
    return values[random() % values.size()];
  };
  const char* const topologies[] = {"mesh", "butterfly", "crossbar"};
  std::vector<std::string> keys = network(topologies[seed % 3]);
  const auto set = [&](const std::string& key, uint32_t value) {
    keys.push_back("interconnect." + key + "=" + std::to_string(value));
  };
  const auto on = [&](const std::string& key, bool value) {
    keys.push_back("interconnect." + key + (value ? "=true" : "=false"));
  };
  const uint32_t vcs = one_of({1, 2, 4, 8});
  set("vcs", vcs);
  set("vc_flits", one_of({1, 2, 3, 8, 16}));
  set("internal_speedup", one_of({1, 1, 2}));
  set("input_speedup", std::min(vcs, one_of({1, 1, 2})));
  set("routing_delay_cycles", one_of({0, 1, 3}));
  set("router_latency_cycles", one_of({1, 3}));
  on("split_packets", one_of({0, 0, 1}) != 0);
  on("wait_for_tail_credit", one_of({0, 0, 1}) != 0);
  on("flit_by_flit", true);
  return keys;
}

TEST(NocEquality, NetworksBetweenChannelsDoWhatTheyDoFlitByFlit) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    const std::vector<std::string> keys = random_keys(seed);
    const ChannelSpec channel{3, 40, 40, 0, 1};
    NetworkRig today(keys, 0, channel);
    const config::MachineConfig machine = config::load_machine("tom", keys);
    FlitByFlitRig other(today, {kPeriod, machine.interconnect}, channel);
    send_load(today, seed);
    send_load(other, seed);
    today.rig.run({40}, 10000000);
    other.rig.run({40}, 10000000);
    ASSERT_TRUE(today.rig.drained() && other.rig.drained()) << seed;
    const noc::ChannelNetworkState& state = *today.rig.arena.get(today.network);
    const SeenOfModel found =
        seen_of(today, state, today.rig.arena.get(state.net.out_ports), state.net.out_ports.count);
    const SeenOfModel expected =
        seen_of(other, other.state, other.rig.arena.get(other.state.net.out_ports),
                other.state.net.out_ports.count);
    ASSERT_EQ(expected.arrived.size(), 60 * NetworkRig::kInputs) << seed;
    std::string all;
    for (const std::string& key : keys) all += " " + key;
    ASSERT_TRUE(found == expected) << seed << ":" << all;
  }
}

}  // namespace
}  // namespace nearwarp::testing
