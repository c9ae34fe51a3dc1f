// A network between mock producers and consumers, by the keys of a machine.
#pragma once

#include "device/noc/channel_network.h"
#include "device/noc/crossbar.h"
#include "host/config/config.h"
#include "host/timing/machine/router_network.h"
#include "tests/support/rig.h"

namespace nearwarp::testing {

inline constexpr uint32_t kPeriod = 10;

/// Four ports of two channels each on the clusters' side, three ports of one channel on the other.
struct NetworkRig {
  Rig rig;
  noc::ChannelNetworkParams params;
  noc::CrossbarParams crossbar_params;
  Ref<noc::ChannelNetworkState> network;
  Ref<noc::CrossbarState> crossbar;  ///< used instead, if the network is one of queues
  std::vector<std::shared_ptr<MockProducer>> in;
  std::vector<std::shared_ptr<MockConsumer>> out;
  static constexpr uint32_t kInputs = 8, kOutputs = 3;
  /// A kind of packets of no mechanism.
  static constexpr PacketKind kOrdered = ordered_kind(9, 1, MessageClass::kRequest);

  explicit NetworkRig(const std::vector<std::string>& keys, bool general = false,
                      ChannelSpec spec = {4, 40, 40, 0, 1}) {
    const config::MachineConfig machine = config::load_machine("tom", keys);
    std::vector<SwitchLink> inputs, outputs;
    std::vector<Ref<Channel>> listened;
    for (uint16_t i = 0; i < kInputs; ++i)
      inputs.push_back({rig.channel(spec), static_cast<uint16_t>(i / 2)});
    for (uint16_t i = 0; i < kOutputs; ++i) outputs.push_back({rig.channel(spec), i});
    noc::ChannelEndsParams ends;
    ends.period = kPeriod;
    ends.endpoints = kOutputs;
    const sim::RouterNetworkSpec described{kPeriod, machine.interconnect};
    if (sim::is_crossbar_of_queues(described)) {
      const sim::Crossbar c = sim::make_crossbar(rig.arena, described, ends, inputs, outputs);
      crossbar_params = c.params;
      crossbar = place(c.state);
    } else {
      const sim::RouterNetwork n =
          sim::make_router_network(rig.arena, described, ends, inputs, outputs);
      params = n.params;
      network = place(n.state);
    }
    for (uint16_t o = 0; o < kOutputs; ++o)
      set_route(ends, this->ends(), rig.arena.base(), o, o, o);
    for (const SwitchLink& l : inputs) {
      in.push_back(rig.producer(l.channel, kPeriod));
      listened.push_back(l.channel);
    }
    rig.add([this, general](std::byte* base, Window w,
                            Horizon& h) { return step(general, base, w, h); },
            listened);
    for (const SwitchLink& l : outputs) out.push_back(rig.consumer(l.channel, kPeriod));
  }
  noc::ChannelEndsState& ends() {
    if (crossbar.count != 0) return *rig.arena.get(crossbar);
    return *rig.arena.get(network);
  }
  /// `general`: a crossbar by the code for all shapes.
  StepResult step(bool general, std::byte* base, Window w, Horizon& h) {
    if (crossbar.count != 0) {
      noc::CrossbarState& s = *crossbar.in(base);
      return general ? noc::step_crossbar<false>(crossbar_params, s, base, w, h)
                     : noc::step_crossbar(crossbar_params, s, base, w, h);
    }
    return step_channel_network(params, *network.in(base), base, w, h);
  }
  void send(uint32_t i, Tick at, uint16_t dst, uint16_t bytes, uint32_t tag = 0,
            PacketKind kind = PacketKind::kRead) {
    in[i]->items.push_back({at, make_packet(kind, static_cast<uint16_t>(i), dst, bytes, tag)});
  }
  /// A few hundred packets of one to five flits, every third of a kind that keeps its order;
  /// returns their number.
  uint32_t send_many() {
    uint32_t sent = 0;
    for (uint32_t k = 0; k < 60; ++k)
      for (uint32_t i = 0; i < kInputs; ++i, ++sent)
        send(i, k * 37, static_cast<uint16_t>((k * 5 + i) % kOutputs),
             static_cast<uint16_t>(8 + (k * 7 + i) % 5 * 32), k,
             (k + i) % 3 == 0 ? kOrdered : PacketKind::kRead);
    return sent;
  }

 private:
  template <class State>
  Ref<State> place(const State& state) {
    const Ref<State> at = rig.arena.allocate<State>(1);
    *rig.arena.get(at) = state;
    return at;
  }
};

inline std::vector<std::string> network(const std::string& topology) {
  return {"interconnect.topology=" + topology, "interconnect.butterfly_radix=2",
          "interconnect.flit_bytes=32",        "interconnect.vcs=8",
          "interconnect.vc_flits=8",           "interconnect.internal_speedup=1"};
}

/// One virtual channel and internal speed-up, as SM2_GTX480 has.
inline std::vector<std::string> fast_network(const std::string& topology) {
  auto keys = network(topology);
  keys.insert(keys.end(), {"interconnect.vcs=1", "interconnect.vc_flits=16",
                           "interconnect.internal_speedup=2"});
  return keys;
}

}  // namespace nearwarp::testing
