// Lays out the nodes that packets pass through, which are switches, networks of routers and link
// ports.
#include <utility>

#include "host/timing/machine/layout.h"
#include "host/timing/machine/router_network.h"

namespace nearwarp::sim {

namespace {

std::vector<SwitchLink> inputs_of(const Layout& l, NodeId node) {
  std::vector<SwitchLink> inputs;
  for (const uint32_t i : l.links[node].in)
    inputs.push_back({l.channels[i], l.graph.links[i].to.port});
  return inputs;
}

/// The outputs of a node's switch, without links for control messages, which do not pass the
/// switch.
std::vector<SwitchLink> outputs_of(const Layout& l, NodeId node) {
  std::vector<SwitchLink> outputs;
  for (const uint32_t i : l.links[node].out)
    if (l.graph.links[i].carries != kControl)
      outputs.push_back({l.channels[i], l.graph.links[i].from.port});
  return outputs;
}

/// Fill in a node's route table `of`: output ports by destination for requests, then by destination
/// for replies. All entries must be kNoRoute.
void set_routes(Layout& l, NodeId node, Ref<uint16_t> of) {
  l.ways.write_requests(node, l.s.arena.get(of));
  l.ways.write_replies(node, l.s.arena.get(of) + l.graph.nodes.size());
}

/// A switch's parameters with those that depend on the graph filled in.
SwitchParams numbered(const Layout& l, NodeId node, SwitchParams p) {
  p.component = node;
  p.endpoints = static_cast<uint16_t>(l.graph.nodes.size());
  return p;
}

}  // namespace

void Layout::node(NodeId node, const SwitchSpec& spec) {
  const SwitchParams p = numbered(*this, node, spec.params);
  const SwitchState state =
      make_switch(s.arena, p, inputs_of(*this, node), outputs_of(*this, node));
  set_routes(*this, node, state.routes);
  add(node, p, state);
}

void Layout::node(NodeId node, const RouterNetworkSpec& spec) {
  noc::ChannelEndsParams ends;
  ends.period = spec.period;
  ends.component = node;
  ends.endpoints = static_cast<uint16_t>(graph.nodes.size());
  const std::vector<SwitchLink> inputs = inputs_of(*this, node), outputs = outputs_of(*this, node);
  if (is_crossbar_of_queues(spec)) {
    const Crossbar c = make_crossbar(s.arena, spec, ends, inputs, outputs);
    set_routes(*this, node, c.state.routes);
    add(node, c.params, c.state);
  } else {
    RouterNetwork n = make_router_network(s.arena, spec, ends, inputs, outputs);
    s.routers.push_back({node, std::move(n.topology)});
    set_routes(*this, node, n.state.routes);
    add(node, n.params, n.state);
  }
}

void Layout::node(NodeId node, const LinkPortSpec& spec) {
  LinkPortParams p = spec.params;
  p.ports = numbered(*this, node, spec.params.ports);
  p.endpoint = endpoint_of(node);
  Ref<Channel> control;
  for (const uint32_t i : links[node].out) {
    if (graph.links[i].carries != kControl) continue;
    control = channels[i];
    p.front_end = endpoint_of(graph.links[i].to.node);
  }
  const std::vector<SwitchLink> inputs = inputs_of(*this, node), outputs = outputs_of(*this, node);
  const LinkPortState state =
      make_link_port(s.arena, p,
                     {inputs, outputs, out_of_class(node, ChannelClass::kGpuToMemory),
                      in_of_class(node, ChannelClass::kMemoryToGpu), control});
  set_routes(*this, node, state.ports.routes);
  add(node, p, state);
}

}  // namespace nearwarp::sim
