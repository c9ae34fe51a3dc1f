// Adds nodes and links to a machine's graph.
#include "host/timing/machine/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/core/error.h"

namespace nearwarp::sim {

uint16_t Graph::add_class(std::string name, NodeSpec spec) {
  classes.push_back({std::move(name), std::move(spec)});
  return static_cast<uint16_t>(classes.size() - 1);
}

uint16_t Graph::class_named(std::string_view name) const {
  for (uint16_t c = 0; c < classes.size(); ++c)
    if (classes[c].name == name) return c;
  throw Error(fmt::format("the machine has no '{}' - take a machine of another shape", name));
}

std::vector<NodeId> Graph::members(uint16_t node_class) const {
  std::vector<NodeId> found;
  for (NodeId n = 0; n < nodes.size(); ++n)
    if (nodes[n].node_class == node_class) found.push_back(n);
  return found;
}

NodeId Graph::add(uint16_t node_class, std::string name, uint16_t stack) {
  if (nodes.size() >= kNoNode)
    throw Error(fmt::format("the machine has more than {} components - make it smaller", kNoNode));
  nodes.push_back({node_class, stack, std::move(name), 0});
  return static_cast<NodeId>(nodes.size() - 1);
}

void Graph::link(End from, End to, ChannelClass kind, uint8_t carries, const Wire& wire) {
  links.push_back({from, to, kind, carries, wire});
}

uint32_t Graph::add_homes(uint32_t stacks, uint32_t per_stack) {
  homes.push_back({per_stack, std::vector<NodeId>(size_t{stacks} * per_stack, kNoNode)});
  return static_cast<uint32_t>(homes.size() - 1);
}

void Graph::count_ports() const {
  out_ports_.resize(nodes.size());
  in_ports_.resize(nodes.size());
  for (; counted_ < links.size(); ++counted_) {
    const Link& l = links[counted_];
    out_ports_[l.from.node] = std::max(out_ports_[l.from.node], l.from.port + 1u);
    in_ports_[l.to.node] = std::max(in_ports_[l.to.node], l.to.port + 1u);
  }
}

End Graph::next_out(NodeId node) const {
  count_ports();
  return at(node, out_ports_[node]);
}

End Graph::next_in(NodeId node) const {
  count_ports();
  return at(node, in_ports_[node]);
}

std::vector<LinksOfNode> links_by_node(const Graph& graph) {
  std::vector<LinksOfNode> of(graph.nodes.size());
  for (uint32_t i = 0; i < graph.links.size(); ++i) {
    of[graph.links[i].from.node].out.push_back(i);
    of[graph.links[i].to.node].in.push_back(i);
  }
  const auto by_port = [&](End Link::*end) {
    return [&graph, end](uint32_t a, uint32_t b) {
      const Link &x = graph.links[a], &y = graph.links[b];
      return std::pair(x.carries == kControl, (x.*end).port) <
             std::pair(y.carries == kControl, (y.*end).port);
    };
  };
  for (LinksOfNode& n : of) {
    std::stable_sort(n.in.begin(), n.in.end(), by_port(&Link::to));
    std::stable_sort(n.out.begin(), n.out.end(), by_port(&Link::from));
  }
  return of;
}

}  // namespace nearwarp::sim
