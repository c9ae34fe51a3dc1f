// Collects the wires between routers of a machine, with the flits that they have carried so far.
#include "host/timing/run/counters/router_wires.h"

#include <algorithm>
#include <span>

#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

/// The network of a component that has many routers.
report::RouterNetwork of_component(System& system, const Routers& routers, Tick tick) {
  const auto& p = system.params<noc::ChannelNetworkParams>(routers.endpoint);
  const auto& s = system.state<noc::ChannelNetworkState>(routers.endpoint);
  const noc::OutputPort* ports = s.net.out_ports.in(system.arena.base());
  report::RouterNetwork n;
  n.name = system.nodes[routers.endpoint].name;
  n.routers = routers.topology.routers;
  n.width = routers.topology.width;
  n.height = routers.topology.height;
  n.cycles = tick / p.period;
  for (const noc::Wire& w : routers.topology.wires)
    n.wires.push_back({w.from, w.to, ports[w.from << p.net.output_shift | w.from_port].flits_sent});
  return n;
}

/// The network of routers on a grid that are a node each. An output port that leads to another
/// router is a wire.
report::RouterNetwork of_nodes(System& system, std::span<const uint16_t> members, Tick tick) {
  const auto& p = system.params<SwitchParams>(members[0]);
  report::RouterNetwork n;
  n.name = "routers";
  n.routers = static_cast<uint32_t>(members.size());
  n.cycles = tick / p.period;
  for (const uint16_t m : members) {
    n.width = std::max<uint32_t>(n.width, system.nodes[m].x + 1u);
    n.height = std::max<uint32_t>(n.height, system.nodes[m].y + 1u);
  }
  const auto number = [&](uint16_t m) { return system.nodes[m].y * n.width + system.nodes[m].x; };
  std::byte* base = system.arena.base();
  for (const uint16_t m : members) {
    const auto& s = system.state<SwitchState>(m);
    const SwitchOutput* outputs = s.outputs.in(base);
    for (uint32_t i = 0; i < s.out_ports.count; ++i) {
      const SwitchOutPort& port = s.out_ports.in(base)[i];
      if (port.count == 0) continue;
      const uint16_t to = outputs[port.first].channel.in(base)->consumer;
      if (std::find(members.begin(), members.end(), to) != members.end())
        n.wires.push_back({number(m), number(to), port.flits_sent});
    }
  }
  return n;
}

}  // namespace

std::vector<report::RouterNetwork> router_networks(System& system, Tick tick) {
  std::vector<report::RouterNetwork> networks;
  for (const Routers& routers : system.routers)
    if (!routers.topology.wires.empty()) networks.push_back(of_component(system, routers, tick));
  const std::span<const uint16_t> members = system.members("router");
  if (!members.empty() && system.nodes[members[0]].x != kNoPlace)
    networks.push_back(of_nodes(system, members, tick));
  return networks;
}

void collect_router_wires(System& system, report::RunResult& result) {
  result.networks = router_networks(system, result.cycles * system.core_period);
}

}  // namespace nearwarp::sim
