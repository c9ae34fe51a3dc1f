// Lays out L2 slices, vaults, and the CPU's memory.
#include "host/timing/machine/layout.h"

namespace nearwarp::sim {

void Layout::node(NodeId node, const L2SliceSpec& spec) {
  L2SliceParams p = spec.params;
  p.endpoint = node;
  p.map = s.map;
  p.homes = homes[spec.homes];
  L2SliceState state = make_l2_slice(s.arena, p, spec.queue_entries, in(node, kRequests),
                                     in(node, kReplies), out(node, kRequests), out(node, kReplies));
  state.invalidate_in = find_in(node, kInvalidations);
  add(node, p, state);
}

void Layout::node(NodeId node, const VaultSpec& spec) {
  VaultParams p = spec.params;
  p.endpoint = node;
  p.map = s.map;
  add(node, p,
      make_vault(s.arena, p, spec.banks, spec.entries, in(node, kRequests), out(node, kReplies)));
}

void Layout::node(NodeId node, const HostMemorySpec& spec) {
  HostMemoryParams p = spec.params;
  p.endpoint = node;
  HostMemoryState state;
  state.in = in(node, kRequests);
  state.out = out(node, kReplies);
  add(node, p, state);
}

}  // namespace nearwarp::sim
