// Parts that TOM adds to a machine's graph.
#include "host/mechanisms/tom/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/mechanisms/tom/packets.h"
#include "host/core/error.h"
#include "host/mechanisms/tom/settings.h"

namespace nearwarp::tom {

namespace {

using namespace sim;

/// One way, of the part of PCI-E that is behind one of `ports` link ports.
Wire pcie(const Parts& parts, uint32_t ports) {
  const Pcie& p = parts.machine.table<Pcie>();
  const auto way = static_cast<uint32_t>(std::max<Tick>(2, parts.ns_ticks(p.round_trip_ns)) / 2);
  if (p.limited) return {way, std::max(2u, p.queue_entries / ports), std::max(1u, p.mbps / ports)};
  // A port sends a packet a cycle, and gets its slot back after the way there and the credit's
  // back.
  return {way, 2 * (way / parts.icnt_period + 1) + 2, 0};
}

NodeId only(const Graph& g, std::string_view node_class) {
  return g.members(g.class_named(node_class)).at(0);
}

/// Replies for stack SMs do not wait behind those for an RX link that is full (section 6.5:
/// internal bandwidth where a link is the bottleneck): vaults have virtual channels of one port for
/// them, one for the SM in the same stack and one for those in others.
void add_ways_to_stack_sms(Graph& g, const Parts& parts, const std::vector<NodeId>& stack_sms) {
  std::vector<Link> ways;
  for (const Link& l : g.links) {
    if (!std::holds_alternative<VaultSpec>(g.spec_of(l.from.node))) continue;
    Link own{l.from, l.to, ChannelClass::kInStack, kReplies, parts.in_stack()}, others = own;
    for (const NodeId sm : stack_sms) {
      const bool same = g.nodes[sm].stack == g.nodes[l.from.node].stack;
      (same ? own : others).only_to.push_back(sm);
    }
    for (const Link& way : {own, others})
      if (!way.only_to.empty()) ways.push_back(way);
  }
  g.links.insert(g.links.end(), ways.begin(), ways.end());
}

/// Adds an SM to each stack. They take their lines from the vaults, as the L2 slices do.
void add_stack_sms(Graph& g, const Parts& parts, const config::PolicyConfig& policy) {
  SmSpec spec = parts.stack_sm();
  spec.homes = g.spec<L2SliceSpec>(g.class_named("l2")).homes;
  spec.params.in_stack = true;
  if (policy.mapping == "local") {
    spec.params.all_local = true;
    spec.params.local_map = kLocalMap;
    g.more_maps = std::max<uint32_t>(g.more_maps, kLocalMap);
  }
  const std::vector<NodeId> switches = g.members(g.class_named("stack_switch"));
  const uint16_t stack_sm = g.add_class("stack_sm", spec);
  const Wire wire = parts.at_stack_sm();
  std::vector<NodeId> stack_sms;
  for (uint16_t k = 0; k < switches.size(); ++k) {
    const NodeId sm = g.add(stack_sm, fmt::format("stack sm {}", k), k);
    stack_sms.push_back(sm);
    constexpr uint8_t kBoth = kRequests | kReplies;
    g.link(g.at(sm), g.next_in(switches[k]), ChannelClass::kInStack, kBoth, parts.from_sm(wire));
    g.link(g.next_out(switches[k]), g.at(sm), ChannelClass::kInStack, kBoth, wire);
  }
  add_ways_to_stack_sms(g, parts, stack_sms);
}

/// Offloading that costs nothing: from every SM to every stack SM and back in a cycle, whatever
/// else is under way. Of a warp no more than one message is on a channel at a time, and of the
/// notices that there is room no more than one.
void add_direct_ways(Graph& g, const Parts& parts) {
  const Wire wire{g.core_period, parts.machine.sm.warps + 2, 0};
  for (const NodeId sm : g.members(g.class_named("sm")))
    for (const NodeId stack_sm : g.members(g.class_named("stack_sm"))) {
      g.link(g.at(sm), g.at(stack_sm), ChannelClass::kDirect, kOwn, wire);
      g.link(g.at(stack_sm), g.at(sm), ChannelClass::kDirect, kOwn, wire);
    }
}

void add_invalidations(Graph& g, const Parts& parts) {
  const std::vector<NodeId> sms = g.members(g.class_named("sm"));
  const std::vector<NodeId> slices = g.members(g.class_named("l2"));
  const uint16_t crossbar = g.add_class(
      "invalidation_crossbar", parts.crossbar_switch(parts.machine.interconnect.flit_bytes));
  const NodeId network = g.add(crossbar, "invalidation crossbar");
  for (uint32_t i = 0; i < sms.size(); ++i)
    g.link(g.at(sms[i]), g.at(network, parts.cluster_of(i)), ChannelClass::kInvalidation,
           kInvalidations, parts.hop());
  for (uint32_t i = 0; i < slices.size(); ++i)
    g.link(g.at(network, i), g.at(slices[i]), ChannelClass::kInvalidation, kInvalidations,
           parts.hop());
}

/// The channel busy monitors, which tell the front end (TOM, section 4.2).
void add_monitors(Graph& g, const Parts& parts, const config::PolicyConfig& policy) {
  const uint16_t port_class = g.class_named("link_port");
  const NodeId front_end = only(g, "front_end");
  LinkPortParams& p = g.spec<LinkPortSpec>(port_class).params;
  p.monitor = 1;
  p.status_kind = kChannelBusy;
  p.interval_ticks =
      parts.machine.table<OffloadParts>().monitor_interval_cycles * parts.icnt_period;
  p.threshold_percent = std::max(1u, policy.table<OffloadSettings>().busy_threshold_percent);
  for (const NodeId port : g.members(port_class))
    g.link(g.at(port), g.at(front_end), ChannelClass::kControl, kControl, parts.control(4));
}

/// While a mapping is learnt, data is in the CPU's memory: what misses in an L2 slice goes through
/// the link port as always, and from there by PCI-E instead of the link to the stack.
void add_host_memory(Graph& g, const Parts& parts) {
  HostMemorySpec spec;
  spec.params.period = parts.icnt_period;
  spec.params.header_bytes = static_cast<uint16_t>(parts.machine.packets.header_bytes);
  spec.params.line_bytes = static_cast<uint16_t>(parts.machine.l1.line_bytes);
  spec.params.sector_bytes = static_cast<uint16_t>(parts.machine.packets.sector_bytes);
  const uint16_t host_class = g.add_class("host_memory", spec);
  const std::vector<NodeId> ports = g.members(g.class_named("link_port"));
  const Wire wire = pcie(parts, static_cast<uint32_t>(ports.size()));
  for (const NodeId port : ports) {
    const uint16_t stack = g.nodes[port].stack;
    const NodeId host = g.add(host_class, fmt::format("CPU memory, part {}", stack), stack);
    g.link(g.next_out(port), g.at(host), ChannelClass::kPcie, kRequests, wire);
    g.link(g.at(host), g.next_in(port), ChannelClass::kPcie, kReplies, wire);
  }
}

}  // namespace

void add_to_machine(Graph& g, const Parts& parts, const config::PolicyConfig& policy,
                    bool learning) {
  const config::MachineConfig& m = parts.machine;
  if (m.stack.sms != 1)
    throw Error(
        fmt::format("{}: stack.sms = {} - TOM places one SM in each stack", m.path, m.stack.sms));
  const size_t stacks = g.members(g.class_named("stack_switch")).size();
  if (stacks > kMaxStacks)
    throw Error(
        fmt::format("{}: {} stacks - TOM's tables have room for {}", m.path, stacks, kMaxStacks));
  add_stack_sms(g, parts, policy);
  if (!policy.table<OffloadSettings>().overhead) add_direct_ways(g, parts);
  add_invalidations(g, parts);
  add_monitors(g, parts, policy);
  if (learning) add_host_memory(g, parts);
}

}  // namespace nearwarp::tom
