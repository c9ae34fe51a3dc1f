// Flits and bytes that crossbars, routers and switches forwarded, summed over hops.
#include <algorithm>
#include <span>
#include <vector>

#include "host/timing/report/counter_table.h"
#include "host/timing/run/counters/subjects.h"

namespace nearwarp::sim {

namespace {

using report::CounterRow;
using report::CounterSums;

/// Traffic that one crossbar, network of routers, link port or logic-layer switch forwarded.
struct Forwarded {
  uint64_t flits = 0, flit_hops = 0, flit_links = 0;
  uint64_t port_bytes = 0, stack_bytes = 0;
};
using F = const Forwarded&;

constexpr CounterRow<Forwarded> kForwarded[] = {
    {"noc.flits", "flits", "Flits that entered the GPU's crossbars and networks of routers",
     [](F f) { return f.flits; }},
    {"noc.flit_hops", "flits", "Crossbars and routers that they passed, summed over flits",
     [](F f) { return f.flit_hops; }},
    {"noc.flit_links", "flits", "Wires between routers that they passed, summed over flits",
     [](F f) { return f.flit_links; }},
    {"noc.port_bytes", "bytes", "Bytes that passed the GPU's ends of the off-chip links",
     [](F f) { return f.port_bytes; }},
    {"stack.switch_bytes", "bytes", "Bytes that passed logic-layer switches, summed over switches",
     [](F f) { return f.stack_bytes; }},
};

/// A switch is one hop, and no router lies behind it.
Forwarded by_crossbar(const SwitchCounters& n) { return {.flits = n.flits, .flit_hops = n.flits}; }

/// A router of packets: each of its flits has come over one wire.
Forwarded by_router(const SwitchCounters& n) {
  return {.flits = n.flits, .flit_hops = n.flits, .flit_links = n.flits};
}

Forwarded by_routers(const noc::ChannelNetworkParams& p, const noc::ChannelNetworkState& s,
                     std::byte* base) {
  Forwarded f{.flits = s.counters.flits};
  const noc::OutputPort* ports = s.net.out_ports.in(base);
  for (uint32_t i = 0; i < s.net.out_ports.count; ++i) {
    f.flit_hops += ports[i].flits_sent;
    if (ports[i].flits.unit < p.net.routers) f.flit_links += ports[i].flits_sent;
  }
  return f;
}

Forwarded by_crossbar(const noc::CrossbarState& s, std::byte* base) {
  Forwarded f{.flits = s.counters.flits};
  const noc::CrossbarOutput* outputs = s.out_ports.in(base);
  for (uint32_t o = 0; o < s.out_ports.count; ++o) f.flit_hops += outputs[o].flits_sent;
  return f;
}

/// Waits of packets in one network, in its cycles.
struct Waited {
  noc::PacketTimes ticks;
  uint64_t packets = 0, period = 1;
};
using W = const Waited&;

constexpr CounterRow<Waited> kWaited[] = {
    {".packets", "packets", "Packets that arrived", [](W w) { return w.packets; }},
    {".injection_wait", "network cycles",
     "Time that packets waited at the network's entrance, summed over packets",
     [](W w) { return w.ticks.injection / w.period; }},
    {".transit", "network cycles",
     "Time that packets took from the network's entrance to its exit, summed over packets",
     [](W w) { return w.ticks.transit / w.period; }},
    {".ejection_wait", "network cycles",
     "Time that packets waited at the network's exit, summed over packets",
     [](W w) { return w.ticks.ejection / w.period; }},
};

/// The most flits that one of its places has seen: they take a cycle each.
struct Busiest {
  uint64_t entrance = 0, link = 0, exit = 0;
};
using B = const Busiest&;

constexpr CounterRow<Busiest> kBusiest[] = {
    {".busiest_entrance", "flits", "Flits that entered at the busiest router",
     [](B b) { return b.entrance; }},
    {".busiest_link", "flits", "Flits that passed the busiest wire between routers",
     [](B b) { return b.link; }},
    {".busiest_exit", "flits", "Flits that left by the busiest port", [](B b) { return b.exit; }},
};

Busiest busiest_of(const noc::ChannelNetworkParams& p, const noc::ChannelNetworkState& s,
                   std::byte* base) {
  Busiest most;
  const noc::OutputPort* ports = s.net.out_ports.in(base);
  std::vector<uint64_t> came(p.net.routers, 0), left(p.net.routers, 0);
  for (uint32_t i = 0; i < s.net.out_ports.count; ++i) {
    const uint64_t flits = ports[i].flits_sent;
    if (flits == 0) continue;
    left[i >> p.net.output_shift] += flits;
    const bool between = ports[i].flits.unit < p.net.routers;
    if (between) came[ports[i].flits.unit] += flits;
    uint64_t& place = between ? most.link : most.exit;
    place = std::max(place, flits);
  }
  // Nothing is inside any more: what has left a router without coming from another has entered.
  for (uint32_t r = 0; r < p.net.routers; ++r)
    most.entrance = std::max(most.entrance, left[r] - came[r]);
  return most;
}

/// Collects waits in the networks of a class, if they keep times.
void collect_waits(System& system, std::string_view class_name, std::string_view prefix,
                   report::RunResult& result) {
  using kernels::ComponentKind;
  CounterSums<Waited> sums(kWaited);
  bool any = false;
  const auto add = [&](const noc::ChannelEndsParams& p, const noc::ChannelEndsState& s) {
    sums.add({s.times, s.counters.packets_out, p.period});
    any = true;
  };
  for (const uint16_t i : system.members(class_name)) {
    const ComponentKind kind = system.component(i).kind;
    if (kind == ComponentKind::kRouterNetwork)
      add(system.params<noc::ChannelNetworkParams>(i), system.state<noc::ChannelNetworkState>(i));
    if (kind == ComponentKind::kCrossbar)
      add(system.params<noc::CrossbarParams>(i), system.state<noc::CrossbarState>(i));
  }
  if (any) sums.append_to(result, prefix);
  for (const uint16_t i : system.members(class_name)) {
    if (system.component(i).kind != ComponentKind::kRouterNetwork) continue;
    const auto& s = system.state<noc::ChannelNetworkState>(i);
    if (s.flits_inside != 0) continue;  // a run that was stopped
    CounterSums<Busiest> busiest(kBusiest);
    busiest.add(busiest_of(system.params<noc::ChannelNetworkParams>(i), s, system.arena.base()));
    busiest.append_to(result, prefix);
  }
}

/// Classes of the networks of GPCs. Their flits have another size than those of the GPU's networks.
constexpr std::string_view kClusterNetworks[] = {"cluster_requests", "cluster_replies"};
constexpr std::string_view kSharedLines[] = {"cluster_lines"};

/// A packet that passes one pays for the switch, and for an SM's wires at both ends, which
/// noc.clusters.bytes and noc.shared_lines.bytes count one by one.
constexpr report::EnergyRule kClusterEnergy[] = {
    {report::EnergyPart::kNetwork, "network.clusters", "noc.clusters.switch_bytes",
     "network.router_fj_per_bit", report::EnergyScale::kBytes},
    {report::EnergyPart::kNetwork, "network.cluster_wires", "noc.clusters.bytes",
     "network.sm_wire_fj_per_bit", report::EnergyScale::kBytes},
};
constexpr report::EnergyRule kSharedLineEnergy[] = {
    {report::EnergyPart::kNetwork, "network.shared_lines", "noc.shared_lines.switch_bytes",
     "network.router_fj_per_bit", report::EnergyScale::kBytes},
    {report::EnergyPart::kNetwork, "network.shared_line_wires", "noc.shared_lines.bytes",
     "network.sm_wire_fj_per_bit", report::EnergyScale::kBytes},
};

/// Bytes that passed switches of some classes; false if there are none.
bool passed(System& system, std::span<const std::string_view> classes, uint64_t& bytes) {
  bool any = false;
  for (const std::string_view of_class : classes)
    for (const uint16_t i : system.members(of_class)) {
      bytes += system.state<SwitchState>(i).counters.bytes;
      any = true;
    }
  return any;
}

/// Collects the networks of GPCs, if there are any.
void collect_clusters(System& system, report::RunResult& result) {
  uint64_t bytes = 0, shared_bytes = 0, lines = 0;
  if (!passed(system, kClusterNetworks, bytes)) return;
  result.counters.push_back(
      {"noc.clusters.switch_bytes", bytes, "bytes", "Bytes that passed the networks of GPCs"});
  result.parts.added.push_back(kClusterEnergy);
  if (!passed(system, kSharedLines, shared_bytes)) return;
  for (const uint16_t i : system.members("sm"))
    lines += system.state<sm::SmState>(i).cluster.in(system.arena.base())->lines_in;
  result.counters.push_back({"noc.shared_lines.delivered", lines, "lines",
                             "Lines of boxes that other blocks of the cluster asked for"});
  result.counters.push_back({"noc.shared_lines.switch_bytes", shared_bytes, "bytes",
                             "Bytes that passed the networks of shared lines"});
  result.parts.added.push_back(kSharedLineEnergy);
}

}  // namespace

void collect_networks(System& system, report::RunResult& result) {
  using kernels::ComponentKind;
  // Switches between stacks are part of the links, whose energy is that of the whole way.
  const std::span<const uint16_t> in_stacks = system.members("stack_switch"),
                                  of_links = system.members("link_switch"),
                                  routers = system.members("router"),
                                  cluster_requests = system.members(kClusterNetworks[0]),
                                  cluster_replies = system.members(kClusterNetworks[1]),
                                  shared_lines = system.members(kSharedLines[0]);
  std::byte* base = system.arena.base();
  collect_clusters(system, result);
  CounterSums<Forwarded> sums(kForwarded);
  for (uint32_t i = 0; i < system.table.count; ++i) {
    const kernels::Component& c = system.component(i);
    if (c.kind == ComponentKind::kSwitch) {
      const SwitchCounters& n = system.state<SwitchState>(i).counters;
      const auto is_of = [&](std::span<const uint16_t> members) {
        return std::find(members.begin(), members.end(), i) != members.end();
      };
      if (is_of(of_links) || is_of(cluster_requests) || is_of(cluster_replies) ||
          is_of(shared_lines))
        continue;
      sums.add(is_of(in_stacks) ? Forwarded{.stack_bytes = n.bytes}
               : is_of(routers) ? by_router(n)
                                : by_crossbar(n));
    } else if (c.kind == ComponentKind::kRouterNetwork) {
      sums.add(by_routers(kernels::at_offset<const noc::ChannelNetworkParams>(base, c.params),
                          system.state<noc::ChannelNetworkState>(i), base));
    } else if (c.kind == ComponentKind::kCrossbar) {
      sums.add(by_crossbar(system.state<noc::CrossbarState>(i), base));
    } else if (c.kind == ComponentKind::kLinkPort) {
      sums.add({.port_bytes = system.state<LinkPortState>(i).ports.counters.bytes});
    }
  }
  sums.append_to(result, "");
  collect_waits(system, "request_crossbar", "noc.requests", result);
  collect_waits(system, "reply_crossbar", "noc.replies", result);
}

}  // namespace nearwarp::sim
