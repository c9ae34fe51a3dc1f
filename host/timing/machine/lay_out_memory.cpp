// Lays out L2 slices, vaults, and the CPU's memory.
#include <fmt/format.h>

#include "device/cache/l2_slice.h"
#include "device/dram/vault.h"
#include "host/core/error.h"
#include "host/timing/machine/layout.h"

namespace nearwarp::sim {

void Layout::node(NodeId node, const L2SliceSpec& spec) {
  L2SliceParams p = spec.params;
  p.endpoint = endpoint_of(node);
  p.map = s.map;
  p.homes = homes[spec.homes];
  p.stack = graph.nodes[node].stack;
  L2SliceState state = make_l2_slice(s.arena, p, spec.queue_entries, in(node, kRequests),
                                     in(node, kReplies), out(node, kRequests), out(node, kReplies));
  state.invalidate_in = find_in(node, kInvalidations);
  state.clean_out = find_out(node, kInvalidations);
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
  uint32_t number = 0;  // of the vault in its stack, whose vaults follow each other
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
