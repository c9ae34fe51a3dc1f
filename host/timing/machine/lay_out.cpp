// Builds a system from a machine's graph, in passes that are the same for all machines.
#include "host/timing/machine/lay_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "device/core/make_channel.h"
#include "host/core/error.h"
#include "host/timing/machine/layout.h"
#include "kernels/clusters.h"

namespace nearwarp::sim {

namespace {

/// Allocate the table of components, indexed by endpoint, and list the members of each class.
void number_nodes(const Graph& graph, System& s) {
  s.table = s.arena.allocate<kernels::Component>(static_cast<uint32_t>(graph.nodes.size()));
  s.nodes = graph.nodes;
  for (const NodeClass& c : graph.classes) s.classes.push_back({c.name, {}});
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    s.classes[graph.nodes[n].node_class].members.push_back(n);
}

std::vector<HomeTable> make_homes(const Graph& graph, ArenaBuilder& arena) {
  std::vector<HomeTable> tables;
  for (const Homes& h : graph.homes) {
    const std::vector<Endpoint> endpoints = endpoints_of(h.at);
    tables.push_back({kernels::place(arena, std::span<const Endpoint>(endpoints)), h.per_stack});
  }
  return tables;
}

std::vector<Ref<Channel>> make_channels(const Graph& graph, System& s) {
  std::vector<Ref<Channel>> channels;
  for (const Link& l : graph.links) {
    ChannelSpec spec;
    spec.slots = l.wire.slots;
    spec.latency = spec.credit_latency = l.wire.latency;
    if (l.wire.mbps != 0) {
      const TicksPerByte t = ticks_per_byte(graph.base_mhz, l.wire.mbps);
      spec.num = t.num;
      spec.den = t.den;
    }
    spec.producer = l.from.node;
    spec.consumer = l.to.node;
    channels.push_back(make_channel(s.arena, spec));
    s.channels.push_back({channels.back(), l.kind});
  }
  return channels;
}

void make_translation(const Graph& graph, System& s) {
  s.map.baseline = graph.map;
  if (graph.more_maps != 0) s.map.others = s.arena.allocate<AddressMap>(graph.more_maps);
  if (graph.address_spaces == 0) return;
  if (graph.mapped_lines > kMaxMappedLines)
    throw Error(
        fmt::format("the program's memory has {} lines - with pages under mappings of their own it "
                    "may have {}",
                    graph.mapped_lines, kMaxMappedLines));
  s.page_tables = make_page_tables(s.arena, graph.address_spaces, graph.mapped_lines,
                                   graph.page_shift, graph.tlb_page_shift);
}

/// Set the windows of the machine and of its clusters. The machine's window is found twice: for all
/// channels, and without the control channels between the front end and SMs.
void make_windows(System& s) {
  std::vector<bool> sms(s.nodes.size());
  for (const uint16_t n : s.sms) sms[n] = true;
  const auto is_sm = [&](uint16_t n) -> bool { return sms[n]; };
  const auto is_control = [&](const Channel& c) {
    return (c.producer == s.front_end_at && is_sm(c.consumer)) ||
           (c.consumer == s.front_end_at && is_sm(c.producer));
  };
  std::vector<const Channel*> all, others;
  for (const ChannelInfo& info : s.channels) {
    const Channel* c = s.arena.get(info.channel);
    all.push_back(c);
    if (!is_control(*c)) others.push_back(c);
  }
  s.window_beside_control = kernels::set_windows(s.components(), others);
  s.window = kernels::set_windows(s.components(), all);
}

/// The channel of the one link in `links` for which wanted(link) is true; a null reference (count
/// 0) if there is none. Throws nearwarp::Error if there are several.
template <class Wanted>
Ref<Channel> only(const Layout& l, const std::vector<uint32_t>& links, NodeId node,
                  Wanted&& wanted) {
  Ref<Channel> found;
  for (const uint32_t i : links) {
    if (!wanted(l.graph.links[i]) || !l.graph.links[i].only_to.empty()) continue;
    if (found.count != 0)
      throw Error(fmt::format("{} has two links for the same messages - it knows only one",
                              l.graph.nodes[node].name));
    found = l.channels[i];
  }
  return found;
}

/// Does the link carry one of the message classes `carries`, and is it no mechanism's own?
bool carries_for_all(const Link& l, uint8_t carries) {
  return (l.carries & carries) != 0 && (l.carries & kOwn) == 0;
}

/// `channel`, or nearwarp::Error if it is a null reference.
Ref<Channel> needed(const Layout& l, Ref<Channel> channel, NodeId node) {
  if (channel.count == 0)
    throw Error(
        fmt::format("{} lacks a link - see host/timing/machine/specs.h", l.graph.nodes[node].name));
  return channel;
}

}  // namespace

Ref<Channel> Layout::find_in(NodeId node, uint8_t carries) const {
  return only(*this, links[node].in, node,
              [&](const Link& l) { return carries_for_all(l, carries); });
}
Ref<Channel> Layout::find_out(NodeId node, uint8_t carries) const {
  return only(*this, links[node].out, node,
              [&](const Link& l) { return carries_for_all(l, carries); });
}
Ref<Channel> Layout::in(NodeId node, uint8_t carries) const {
  return needed(*this, find_in(node, carries), node);
}
Ref<Channel> Layout::out(NodeId node, uint8_t carries) const {
  return needed(*this, find_out(node, carries), node);
}
Ref<Channel> Layout::find_in_of_class(NodeId node, ChannelClass kind) const {
  return only(*this, links[node].in, node, [&](const Link& l) { return l.kind == kind; });
}
Ref<Channel> Layout::in_of_class(NodeId node, ChannelClass kind) const {
  return needed(*this, find_in_of_class(node, kind), node);
}
Ref<Channel> Layout::out_of_class(NodeId node, ChannelClass kind) const {
  const auto same = [&](const Link& l) { return l.kind == kind; };
  return needed(*this, only(*this, links[node].out, node, same), node);
}

System lay_out(const Graph& graph, SharedWays& ways) {
  System s;
  s.base_mhz = graph.base_mhz;
  s.core_period = graph.core_period;
  number_nodes(graph, s);
  const std::shared_ptr<const CheckedWays> checked = ways.of(graph);
  Layout layout{graph, s, checked->links, checked->ways};
  make_translation(graph, s);
  layout.homes = make_homes(graph, s.arena);
  layout.channels = make_channels(graph, s);
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    std::visit([&](const auto& spec) { layout.node(n, spec); }, graph.spec_of(n));
  make_windows(s);
  return s;
}

}  // namespace nearwarp::sim
