// Do a mesh's output ports reach full use when packets may take any free virtual channel, and is
// there no deadlock however small the buffers are?
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/noc/network_rig.h"

namespace nearwarp::testing {
namespace {

/// The mesh of machine `opportunistic` with 56 SMs and eight L2 slices: the network for requests
/// (`from_sms`) or the one for replies.
struct MeshRig {
  Rig rig;
  noc::ChannelNetworkParams params;
  Ref<noc::ChannelNetworkState> network;
  std::vector<std::shared_ptr<MockProducer>> in;
  std::vector<std::shared_ptr<MockConsumer>> out;

  MeshRig(bool from_sms, const std::vector<std::string>& keys) {
    const config::MachineConfig m = config::load_machine("opportunistic", keys);
    const std::vector<uint32_t> memory = config::memory_tiles(m);
    sim::Tiles tiles{m.mesh.width, m.mesh.height, m.mesh.routing == "yx", {}, memory};
    for (uint32_t n = 0; n < 64; ++n)
      if (std::find(memory.begin(), memory.end(), n) == memory.end()) tiles.sms.push_back(n);
    const uint16_t senders = from_sms ? 56 : 8, receivers = from_sms ? 8 : 56;
    std::vector<SwitchLink> inputs, outputs;
    const ChannelSpec spec{64, 40, 40, 0, 1};
    for (uint16_t i = 0; i < senders; ++i) inputs.push_back({rig.channel(spec), i});
    for (uint16_t i = 0; i < receivers; ++i) outputs.push_back({rig.channel(spec), i});
    noc::ChannelEndsParams ends;
    ends.period = kPeriod;
    ends.endpoints = receivers;
    sim::RouterNetworkSpec described{kPeriod, m.interconnect};
    described.tiles = tiles;
    described.from_sms = from_sms;
    const sim::RouterNetwork n =
        sim::make_router_network(rig.arena, described, ends, inputs, outputs);
    params = n.params;
    network = rig.arena.allocate<noc::ChannelNetworkState>(1);
    *rig.arena.get(network) = n.state;
    for (uint16_t o = 0; o < receivers; ++o) set_route(ends, state(), rig.arena.base(), o, o, o);
    std::vector<Ref<Channel>> listened;
    for (const SwitchLink& l : inputs) {
      in.push_back(rig.producer(l.channel, kPeriod));
      listened.push_back(l.channel);
    }
    rig.add(
        [this](std::byte* base, Window w, Horizon& h) {
          return step_channel_network(params, *network.in(base), base, w, h);
        },
        listened);
    for (const SwitchLink& l : outputs) out.push_back(rig.consumer(l.channel, kPeriod));
  }
  noc::ChannelNetworkState& state() { return *rig.arena.get(network); }
  /// Send `n` packets from each sender, of one flit and five flits in turn, to receivers in a
  /// pseudo-random order. Every seventh packet must not overtake others. Returns their number.
  uint32_t send_mixed(uint32_t n) {
    uint32_t sent = 0, random = 1;
    for (uint32_t k = 0; k < n; ++k) {
      for (uint32_t i = 0; i < in.size(); ++i, ++sent) {
        random = random * 1664525 + 1013904223;
        const auto dst = static_cast<uint16_t>((random >> 16) % out.size());
        const PacketKind kind = sent % 7 == 0 ? NetworkRig::kOrdered : PacketKind::kRead;
        in[i]->items.push_back(
            {0, make_packet(kind, static_cast<uint16_t>(i), dst, (k + i) % 2 == 0 ? 8 : 136, k)});
      }
    }
    return sent;
  }
  uint64_t flits_taken(uint32_t o, Tick from, Tick to) const {
    uint64_t flits = 0;
    for (const MockConsumer::Item& item : out[o]->items)
      if (item.at >= from && item.at < to) flits += (item.packet.bytes + 31) / 32;
    return flits;
  }
};

/// The share of cycles in which a receiver got a flit, in per cent, as the mean over receivers.
uint64_t use_of_ports(MeshRig& r) {
  const Tick from = 20000, to = 60000;
  r.rig.run({40}, to);
  uint64_t flits = 0;
  for (uint32_t o = 0; o < r.out.size(); ++o) flits += r.flits_taken(o, from, to);
  return flits * 100 * kPeriod / (to - from) / r.out.size();
}

TEST(Allocation, PortsFillUnderPacketsOfOneAndFiveFlits) {
  MeshRig r(true, {});
  r.send_mixed(1000);
  EXPECT_GE(use_of_ports(r), 95u);
}

TEST(Allocation, PortsDoNotFillWhereEachChannelIsANetworkOfItsOwn) {
  // Every flit travels as a packet of its own, which has to be given a virtual channel.
  MeshRig r(true, {"interconnect.split_packets=true"});
  r.send_mixed(1000);
  EXPECT_LT(use_of_ports(r), 90u);
}

TEST(Allocation, TinyBuffersLoseNothingAndNothingWaitsForEver) {
  for (const bool from_sms : {true, false}) {
    for (const char* vcs : {"1", "2", "8"}) {
      for (const char* flits : {"1", "2"}) {
        MeshRig r(from_sms, {std::string("interconnect.vcs=") + vcs,
                             std::string("interconnect.vc_flits=") + flits});
        for (const auto& consumer : r.out) consumer->from = 5000;  // congestion before all begins
        const uint32_t sent = r.send_mixed(from_sms ? 40 : 280);
        r.rig.run({40}, 3000000);
        uint32_t received = 0;
        for (const auto& consumer : r.out)
          received += static_cast<uint32_t>(consumer->items.size());
        SCOPED_TRACE(std::string(vcs) + " channels of " + flits);
        EXPECT_EQ(received, sent);
        EXPECT_TRUE(r.rig.drained());
        EXPECT_EQ(r.state().flits_inside, 0u);
        EXPECT_EQ(r.state().counters.packets_out, sent);
        EXPECT_EQ(r.state().fault.code, kFaultNone);
      }
    }
  }
}

}  // namespace
}  // namespace nearwarp::testing
