// Lays out SMs, and the front end that feeds them.
#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "device/frontend/make_front_end.h"
#include "device/sm/make_sm.h"
#include "host/core/error.h"
#include "host/timing/machine/layout.h"

namespace nearwarp::sim {

namespace {

/// An upper bound of the numbers of kernels that the program launches.
uint32_t num_kernels(const Graph& graph) {
  uint32_t kernels = 1;
  for (const NodeClass& c : graph.classes) {
    const auto* front_end = std::get_if<FrontEndSpec>(&c.spec);
    if (front_end == nullptr) continue;
    for (const sm::LaunchInfo& l : front_end->launches) kernels = std::max(kernels, l.kernel + 1);
  }
  return kernels;
}

/// Give an SM its channels to the networks of its GPC, and the list of the GPC's SMs.
template <uint32_t kWords>
void join_gpc(Layout& l, NodeId node, sm::SmStateOf<kWords>& s) {
  sm::ClusterPort& port = *l.s.arena.get(s.cluster);
  const auto channel = [&](const std::vector<uint32_t>& links, uint8_t carries,
                           ChannelClass kind = ChannelClass::kCluster) {
    for (const uint32_t i : links)
      if (l.graph.links[i].kind == kind && (l.graph.links[i].carries & carries) != 0) return i;
    throw Error(l.graph.nodes[node].name +
                " is in no GPC's network, but thread blocks of clusters "
                "run on it");
  };
  const uint32_t out = channel(l.links[node].out, kRequests);
  port.requests_out = l.channels[out];
  port.replies_out = l.channels[channel(l.links[node].out, kReplies)];
  port.requests_in = l.channels[channel(l.links[node].in, kRequests)];
  port.replies_in = l.channels[channel(l.links[node].in, kReplies)];
  if (s.copies.count != 0) {
    const ChannelClass lines = ChannelClass::kSharedLines;
    port.copies_out = l.channels[channel(l.links[node].out, kReplies, lines)];
    port.copies_in = l.channels[channel(l.links[node].in, kReplies, lines)];
  }
  std::vector<Endpoint> members;
  for (const uint32_t i : l.links[l.graph.links[out].to.node].out)
    members.push_back(endpoint_of(l.graph.links[i].to.node));
  port.members = kernels::place(l.s.arena, std::span<const Endpoint>(members));
}

template <uint32_t kWords>
void add_sm(Layout& l, NodeId node, const sm::SmParams& p) {
  sm::SmStateOf<kWords> s = sm::make_sm<kWords>(l.s.arena, p, num_kernels(l.graph));
  if (l.graph.log_events != 0) s.log.events = l.s.arena.allocate<Event>(l.graph.log_events);
  s.endpoint = endpoint_of(node);
  s.stack = stack_id(l.graph.nodes[node].stack);
  s.index = l.sms++;  // nodes are laid out in their order
  s.to_network = l.out(node, kRequests | kReplies);
  s.from_network = l.in(node, kRequests | kReplies);
  s.from_banks = l.find_in_of_class(node, ChannelClass::kBanksToSm);
  s.to_front_end = l.find_out(node, kControl);
  s.from_front_end = l.find_in(node, kControl);
  if (p.clusters) join_gpc(l, node, s);
  l.add(node, p, s);
}

/// Refuse SMs with more than 64 warps that are not in stacks: the code that steps them is for SMs
/// with offloaded warps and without thread blocks (sm::SmViewOf::kHasBlocks).
void check_wide(const Layout& l, NodeId node, const sm::SmParams& p) {
  if (p.num_warps <= WarpSet<1>::kCapacity) return;
  bool controlled = false;
  for (const auto* list : {&l.links[node].in, &l.links[node].out})
    for (const uint32_t i : *list) controlled |= (l.graph.links[i].carries & kControl) != 0;
  if (p.in_stack && !controlled) return;
  throw Error(fmt::format(
      "{} has {} warps and {} - beyond {} an SM must be in a stack, and have no "
      "link to a front end",
      l.graph.nodes[node].name, p.num_warps,
      controlled ? "a link that carries control" : "is in no stack", WarpSet<1>::kCapacity));
}

/// Throws nearwarp::Error if the policy deals thread blocks to groups of SMs that are no GPCs.
void check_groups(const frontend::FrontEndParams& p) {
  if (p.dispatch.gpcs == 0 || p.dispatch.groups == 1) return;
  throw Error(
      fmt::format("dispatch.groups is {}, but the program has clusters of thread blocks, which run "
                  "on a GPC each (gpu.gpcs) - 1 group goes with that, or gpu.gpcs=0",
                  p.dispatch.groups));
}

}  // namespace

void Layout::node(NodeId node, const SmSpec& spec) {
  sm::SmParams p = spec.params;
  p.map = s.map;
  p.translation = s.page_tables.translation;
  p.homes = homes[spec.homes_of(sms, graph.nodes[node].stack)];
  for (const uint32_t i : links[node].out)
    if ((graph.links[i].carries & kControl) != 0) p.front_end = endpoint_of(graph.links[i].to.node);
  check_wide(*this, node, p);
  if (p.num_warps <= WarpSet<1>::kCapacity) {
    add_sm<1>(*this, node, p);
  } else {
    add_sm<sm::kWideWords>(*this, node, p);
  }
}

void Layout::node(NodeId node, const FrontEndSpec& spec) {
  std::vector<Ref<Channel>> to_sm, from_sm, to_slice, from_slice, monitors;
  std::vector<frontend::SmRoom> rooms;
  for (const uint32_t i : links[node].out) {
    if (graph.links[i].carries != kControl) {
      to_slice.push_back(channels[i]);
      continue;
    }
    to_sm.push_back(channels[i]);
    frontend::SmRoom& room = rooms.emplace_back();
    room.free = std::get<SmSpec>(graph.spec_of(graph.links[i].to.node)).capacity;
    if (!spec.groups.empty()) room.group = spec.groups.at(rooms.size() - 1);
    if (!spec.stacks.empty()) room.stack = spec.stacks.at(rooms.size() - 1);
    if (!spec.gpcs.empty()) room.gpc = spec.gpcs.at(rooms.size() - 1);
  }
  for (const uint32_t i : links[node].in) {
    if (graph.links[i].carries != kControl) {
      from_slice.push_back(channels[i]);
      continue;
    }
    const NodeId from = graph.links[i].from.node;
    const bool is_sm = std::holds_alternative<SmSpec>(graph.spec_of(from));
    (is_sm ? from_sm : monitors).push_back(channels[i]);
    if (is_sm) s.sms.push_back(from);
  }
  ArenaBuilder& a = s.arena;
  frontend::FrontEndParams p = spec.params;
  p.num_sms = s.num_sms();
  p.endpoint = endpoint_of(node);
  check_groups(p);
  frontend::FrontEndState f = frontend::make_front_end(a, p, rooms, spec.launches);
  f.to_sm = kernels::place(a, std::span<const Ref<Channel>>(to_sm));
  f.from_sm = kernels::place(a, std::span<const Ref<Channel>>(from_sm));
  f.to_slice = kernels::place(a, std::span<const Ref<Channel>>(to_slice));
  f.from_slice = kernels::place(a, std::span<const Ref<Channel>>(from_slice));
  f.from_monitor = kernels::place(a, std::span<const Ref<Channel>>(monitors));
  add(node, p, f);
  s.front_end_at = node;
}

}  // namespace nearwarp::sim
