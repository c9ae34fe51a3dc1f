// The state that the passes from graph to system share. A file for each family of kinds lays out
// their components: lay_out_sms.cpp, lay_out_memory.cpp, lay_out_transit.cpp.
#pragma once

#include <map>
#include <vector>

#include "host/timing/machine/routes.h"
#include "host/timing/machine/system.h"
#include "kernels/make_component.h"

namespace nearwarp::sim {

struct Layout {
  const Graph& graph;
  System& s;
  const std::vector<LinksOfNode>& links;  ///< by node
  const Ways& ways;
  std::vector<Ref<Channel>> channels = {};             ///< by link
  std::vector<HomeTable> homes = {};                   ///< as Graph::homes
  uint32_t sms = 0;                                    ///< laid out so far
  std::map<uint16_t, Ref<uint8_t>> others_than_ = {};  ///< what others_than() has answered

  /// The channel of the node's only link that carries any of these; count 0 if there is none.
  /// Throws nearwarp::Error if there are several.
  Ref<Channel> find_in(NodeId node, uint8_t carries) const;
  Ref<Channel> find_out(NodeId node, uint8_t carries) const;
  /// As find_in() and find_out(), but there must be such a link.
  Ref<Channel> in(NodeId node, uint8_t carries) const;
  Ref<Channel> out(NodeId node, uint8_t carries) const;
  /// The channel of the node's only link of a class, as find_in(), in() and out() find it.
  Ref<Channel> find_in_of_class(NodeId node, ChannelClass kind) const;
  Ref<Channel> in_of_class(NodeId node, ChannelClass kind) const;
  Ref<Channel> out_of_class(NodeId node, ChannelClass kind) const;

  /// A component that every input of the node wakes.
  template <class P, class S>
  void add(NodeId node, const P& params, const S& state) {
    std::vector<Ref<Channel>> inputs;
    for (const uint32_t i : links[node].in) inputs.push_back(channels[i]);
    kernels::Component c =
        kernels::make_component(s.arena, params, state, std::span<const Ref<Channel>>(inputs));
    c.cluster = graph.nodes[node].cluster;
    s.component(node) = c;
  }

  /// The slice of a vault's own stack that has the vault's lines.
  NodeId slice_of(NodeId vault, const VaultSpec& spec) const;
  /// By endpoint: 1: it is in a stack, and not in this one.
  Ref<uint8_t> others_than(uint16_t stack);

  void node(NodeId node, const SmSpec& spec);
  void node(NodeId node, const FrontEndSpec& spec);
  void node(NodeId node, const L2SliceSpec& spec);
  void node(NodeId node, const VaultSpec& spec);
  void node(NodeId node, const HostMemorySpec& spec);
  void node(NodeId node, const SwitchSpec& spec);
  void node(NodeId node, const RouterNetworkSpec& spec);
  void node(NodeId node, const LinkPortSpec& spec);
};

}  // namespace nearwarp::sim
