// Lays out L2 slices, vaults, and the CPU's memory.
#include <fmt/format.h>

#include "device/cache/l2_slice.h"
#include "device/dram/vault.h"
#include "host/core/error.h"
#include "host/timing/machine/layout.h"

namespace nearwarp::sim {

namespace {

/// The channel between a slice and its twin, among those of links `at`, that carries `carries`.
Ref<Channel> between_halves(const Layout& l, const std::vector<uint32_t>& at, uint8_t carries) {
  for (const uint32_t i : at)
    if (l.graph.links[i].kind == ChannelClass::kBetweenHalves &&
        (l.graph.links[i].carries & carries) != 0)
      return l.channels[i];
  throw Error("an L2 slice of two halves lacks a link to its twin");
}

/// Find the twin of a slice whose half keeps copies, and the endpoints of the other half's SMs.
void find_twin(const Layout& l, NodeId node, const L2SliceSpec& spec, L2HalvesParams& p) {
  std::vector<NodeId> sms;
  for (NodeId n = 0; n < l.graph.nodes.size(); ++n)
    if (std::holds_alternative<SmSpec>(l.graph.spec_of(n))) sms.push_back(n);
  const NodeId first = sms.front(), middle = sms.at(spec.sms_of_first_half),
               end = static_cast<NodeId>(sms.back() + 1);
  for (const uint32_t i : l.links[node].out) {
    const Link& link = l.graph.links[i];
    if (link.kind != ChannelClass::kBetweenHalves || (link.carries & kReplies) == 0) continue;
    p.twin = endpoint_of(link.to.node);
    p.most = static_cast<uint16_t>(link.wire.slots);
  }
  const bool second = node_of(p.twin) < node;
  p.far_begin = endpoint_of(second ? first : middle);
  p.far_end = endpoint_of(second ? middle : end);
}

void link_twin(const Layout& l, NodeId node, L2Halves& h) {
  const auto in = [&](uint8_t carries) { return between_halves(l, l.links[node].in, carries); };
  const auto out = [&](uint8_t carries) { return between_halves(l, l.links[node].out, carries); };
  h.requests_in = in(kRequests), h.requests_out = out(kRequests);
  h.replies_in = in(kReplies), h.replies_out = out(kReplies);
  h.invalidations_in = in(kInvalidations), h.invalidations_out = out(kInvalidations);
}

}  // namespace

void Layout::node(NodeId node, const L2SliceSpec& spec) {
  L2SliceParams p = spec.params;
  p.endpoint = endpoint_of(node);
  p.map = s.map;
  p.homes = homes[spec.homes];
  p.stack = stack_id(graph.nodes[node].stack);
  const bool copies = spec.sms_of_first_half != 0;
  if (copies) find_twin(*this, node, spec, p.halves);
  L2SliceState state = make_l2_slice(
      s.arena, p, spec.queue_entries,
      {in(node, kRequests), in(node, kReplies), out(node, kRequests), out(node, kReplies)});
  state.invalidate_in = find_in(node, kInvalidations);
  state.clean_out = find_out(node, kInvalidations);
  if (copies) link_twin(*this, node, state.halves);
  add(node, p, state);
}

void Layout::node(NodeId node, const VaultSpec& spec) {
  VaultParams p = spec.params;
  p.endpoint = endpoint_of(node);
  p.map = s.map;
  VaultState state =
      make_vault(s.arena, p, spec.banks, spec.entries, in(node, kRequests), out(node, kReplies));
  for (const uint32_t i : links[node].out) {
    const std::vector<NodeId>& only_to = graph.links[i].only_to;
    if (only_to.empty()) continue;
    if (state.num_exits == kMaxVaultExits)
      throw Error(fmt::format("{} has more than {} links for replies", graph.nodes[node].name,
                              kMaxVaultExits));
    if (state.exit_of.count == 0)
      state.exit_of = s.arena.allocate<uint8_t>(static_cast<uint32_t>(graph.nodes.size()));
    const uint32_t exit = add_exit(s.arena, state, channels[i]);
    for (const NodeId n : only_to) s.arena.get(state.exit_of)[n] = static_cast<uint8_t>(exit);
  }
  if (spec.tells != kNoHomes)
    tell_of_writes(s.arena, state, endpoint_of(slice_of(node, spec)),
                   others_than(graph.nodes[node].stack));
  add(node, p, state);
}

NodeId Layout::slice_of(NodeId vault, const VaultSpec& spec) const {
  const Node& own = graph.nodes[vault];
  uint32_t number = 0;  // the vault's number in its stack, whose vaults are consecutive nodes
  for (NodeId v = vault; v > 0 && graph.nodes[v - 1].node_class == own.node_class &&
                         graph.nodes[v - 1].stack == own.stack;
       --v)
    number += 1;
  const Homes& slices = graph.homes[spec.tells + own.stack];
  return slices.at[own.stack * slices.per_stack + number];
}

Ref<uint8_t> Layout::others_than(uint16_t stack) {
  Ref<uint8_t>& others = others_than_[stack];
  if (others.count != 0) return others;
  others = s.arena.allocate<uint8_t>(static_cast<uint32_t>(graph.nodes.size()));
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const uint16_t its = graph.nodes[n].stack;
    s.arena.get(others)[n] = its != kNoStack && its != stack ? 1 : 0;
  }
  return others;
}

void Layout::node(NodeId node, const HostMemorySpec& spec) {
  HostMemoryParams p = spec.params;
  p.endpoint = endpoint_of(node);
  HostMemoryState state;
  state.in = in(node, kRequests);
  state.out = out(node, kReplies);
  add(node, p, state);
}

}  // namespace nearwarp::sim
