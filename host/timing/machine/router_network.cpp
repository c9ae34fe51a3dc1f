// Chooses the topology of router networks in a machine, places SMs and memory on it, and wires it.
#include "host/timing/machine/router_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "host/timing/noc/wiring.h"

namespace nearwarp::sim {

namespace {

/// A topology, and the terminals to which the network's ports are connected.
struct Placement {
  noc::Topology topology;
  std::vector<uint32_t> senders, receivers;
};

std::vector<uint32_t> counting(uint32_t first, uint32_t n) {
  std::vector<uint32_t> numbers(n);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

Placement place_mesh(uint32_t clusters, uint32_t memory, bool from_sms) {
  const uint32_t nodes = clusters + memory;
  uint32_t width = 1;
  while (width * width < nodes) ++width;
  std::vector<uint32_t> cluster_nodes, memory_nodes;
  for (uint32_t n = 0; n < nodes; ++n) {
    const uint32_t next = static_cast<uint32_t>(memory_nodes.size());
    const bool is_memory = next < memory && n >= (2 * next + 1) * nodes / (2 * memory);
    (is_memory ? memory_nodes : cluster_nodes).push_back(n);
  }
  Placement p;
  p.topology =
      noc::make_topology("mesh", fmt::format("{}x{}", width, (nodes + width - 1) / width), "xy");
  p.senders = from_sms ? cluster_nodes : memory_nodes;
  p.receivers = from_sms ? memory_nodes : cluster_nodes;
  return p;
}

/// Place the ports on tiles. If a side has more ports than tiles of its kind, the ports beyond are
/// those of SMs, which then both send and receive.
Placement place_on_tiles(const Tiles& tiles, bool from_sms, uint32_t in, uint32_t out,
                         noc::Topology topology) {
  Placement p{std::move(topology), from_sms ? tiles.sms : tiles.memory,
              from_sms ? tiles.memory : tiles.sms};
  for (const auto& [ports, count] : {std::pair{&p.senders, in}, std::pair{&p.receivers, out}})
    if (count > ports->size()) ports->insert(ports->end(), tiles.sms.begin(), tiles.sms.end());
  return p;
}

Placement place(const RouterNetworkSpec& spec, uint32_t in, uint32_t out) {
  const std::string& topology = spec.routers.topology;
  const bool on_tiles = !spec.tiles.memory.empty();
  const uint32_t tiles = spec.tiles.width * spec.tiles.height;
  if (topology == "mesh" && on_tiles)
    return place_on_tiles(
        spec.tiles, spec.from_sms, in, out,
        noc::make_topology("mesh", fmt::format("{}x{}", spec.tiles.width, spec.tiles.height),
                           spec.tiles.y_first ? "yx" : "xy"));
  if (topology == "mesh")
    return place_mesh(spec.from_sms ? in : out, spec.from_sms ? out : in, spec.from_sms);
  Placement p;
  if (topology == "crossbar") {
    p.topology = noc::make_topology(topology, fmt::format("{}x{}", in, out), "xy");
    p.senders = counting(0, in);
    p.receivers = counting(in, out);
    return p;
  }
  const uint32_t radix = spec.routers.butterfly_radix;
  uint32_t stages = 1;
  for (uint32_t n = radix; n < std::max({in, out, tiles}); n *= radix) ++stages;
  p.topology = noc::make_topology("butterfly", fmt::format("{}x{}", radix, stages), "xy");
  if (on_tiles) return place_on_tiles(spec.tiles, spec.from_sms, in, out, std::move(p.topology));
  p.senders = counting(0, in);
  p.receivers = counting(0, out);
  return p;
}

}  // namespace

bool is_crossbar_of_queues(const RouterNetworkSpec& spec) {
  const config::MachineConfig::Interconnect& r = spec.routers;
  return r.topology == "crossbar" && r.vcs == 1 && !r.wait_for_tail_credit && !r.flit_by_flit &&
         r.routing_delay_cycles <= noc::kMaxRoutingDelay;
}

Crossbar make_crossbar(ArenaBuilder& arena, const RouterNetworkSpec& spec,
                       const noc::ChannelEndsParams& ends, std::span<const SwitchLink> inputs,
                       std::span<const SwitchLink> outputs) {
  const config::MachineConfig::Interconnect& routers = spec.routers;
  // Making a topology refuses too many ports, as for other networks.
  const noc::Topology topology =
      place(spec, inputs.back().port + 1u, outputs.back().port + 1u).topology;
  noc::check_switch_inputs(topology, routers.input_speedup, "interconnect.input_speedup");
  noc::CrossbarParams params;
  static_cast<noc::ChannelEndsParams&>(params) = ends;
  params.senders = inputs.back().port + 1u;
  params.receivers = outputs.back().port + 1u;
  params.depth = routers.vc_flits;
  params.router.speedup = routers.internal_speedup;
  params.router.routing_delay = routers.routing_delay_cycles;
  params.flit_bytes = routers.flit_bytes;
  params.split = routers.split_packets;
  Crossbar c;
  c.state = noc::make_crossbar(arena, params, inputs, outputs);
  c.params = params;
  return c;
}

RouterNetwork make_router_network(ArenaBuilder& arena, const RouterNetworkSpec& spec,
                                  const noc::ChannelEndsParams& ends,
                                  std::span<const SwitchLink> inputs,
                                  std::span<const SwitchLink> outputs) {
  const config::MachineConfig::Interconnect& routers = spec.routers;
  const Placement where = place(spec, inputs.back().port + 1u, outputs.back().port + 1u);
  const noc::Topology& t = where.topology;
  noc::ChannelNetworkParams params;
  static_cast<noc::ChannelEndsParams&>(params) = ends;
  noc::NetworkParams& p = params.net;
  p = noc::params_of(t);
  // Packets are allocated virtual channels or, if they are split, each virtual channel is a virtual
  // network of its own (device/noc/channel_network.h).
  p.vcs = routers.vcs;
  p.vnets = routers.split_packets ? routers.vcs : 1;
  p.depth = routers.vc_flits;
  p.routing_delay = routers.routing_delay_cycles;
  p.speedup = routers.internal_speedup;
  p.input_speedup = routers.input_speedup;
  p.wait_for_tail_credit = routers.wait_for_tail_credit ? 1 : 0;
  noc::check_switch_inputs(t, p.input_speedup, "interconnect.input_speedup");
  params.flit_bytes = routers.flit_bytes;
  params.split = routers.split_packets;
  const uint32_t latency = routers.router_latency_cycles;
  const noc::NetworkState net = noc::make_network(arena, p, latency);
  noc::wire(t, p, net, arena.base(), latency);
  RouterNetwork n;
  n.topology = t;
  n.params = params;
  n.state = noc::make_channel_network(arena, params, net,
                                      {inputs, outputs, where.senders, where.receivers});
  return n;
}

}  // namespace nearwarp::sim
