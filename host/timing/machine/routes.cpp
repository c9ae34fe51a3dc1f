// Which way packets go through the transit nodes of a machine's graph.
#include "host/timing/machine/routes.h"

#include <fmt/format.h>

#include <limits>

#include "host/core/error.h"

namespace nearwarp::sim {

namespace {

constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();

/// Links from every transit node to one destination, by breadth-first search backwards.
class Distances {
 public:
  Distances(const Graph& graph, const std::vector<LinksOfNode>& links, uint8_t carries)
      : graph_(graph), links_(links), carries_(carries) {}

  void to(NodeId destination) {
    hops_.assign(graph_.nodes.size(), kFar);
    hops_[destination] = 0;
    queue_ = {destination};
    for (size_t head = 0; head < queue_.size(); ++head) {
      const NodeId n = queue_[head];
      for (const uint32_t i : links_[n].in) {
        const Link& l = graph_.links[i];
        if ((l.carries & carries_) == 0 || hops_[l.from.node] != kFar) continue;
        if (!is_transit(graph_.spec_of(l.from.node))) continue;
        hops_[l.from.node] = hops_[n] + 1;
        queue_.push_back(l.from.node);
      }
    }
  }

  /// The place of the output that a transit node takes; kNoRoute if there is none.
  uint16_t output_of(NodeId node) const {
    if (hops_[node] == kFar) return kNoRoute;
    const std::vector<uint32_t>& out = links_[node].out;
    for (uint16_t k = 0; k < out.size(); ++k) {
      const Link& l = graph_.links[out[k]];
      if ((l.carries & carries_) != 0 && hops_[l.to.node] == hops_[node] - 1) return k;
    }
    return kNoRoute;
  }

 private:
  const Graph& graph_;
  const std::vector<LinksOfNode>& links_;
  uint8_t carries_;
  std::vector<uint32_t> hops_;
  std::vector<NodeId> queue_;
};

}  // namespace

std::vector<Routes> find_routes(const Graph& graph, const std::vector<LinksOfNode>& links) {
  const auto count = static_cast<NodeId>(graph.nodes.size());
  std::vector<Routes> routes(count);
  std::vector<NodeId> transit;
  for (NodeId n = 0; n < count; ++n) {
    if (!is_transit(graph.spec_of(n))) continue;
    transit.push_back(n);
    routes[n].request.assign(count, kNoRoute);
    routes[n].reply.assign(count, kNoRoute);
  }
  Distances requests(graph, links, kRequests), replies(graph, links, kReplies),
      invalidations(graph, links, kInvalidations);
  for (NodeId d = 0; d < count; ++d) {
    if (is_transit(graph.spec_of(d))) continue;
    requests.to(d);
    replies.to(d);
    invalidations.to(d);
    for (const NodeId n : transit) {
      routes[n].reply[d] = replies.output_of(n);
      const uint16_t request = requests.output_of(n), invalidation = invalidations.output_of(n);
      if (request != kNoRoute && invalidation != kNoRoute && request != invalidation)
        throw Error(fmt::format(
            "{}: requests and invalidations for {} would leave by different links - one route "
            "serves both; give invalidations a network of their own",
            graph.nodes[n].name, graph.nodes[d].name));
      routes[n].request[d] = request != kNoRoute ? request : invalidation;
    }
  }
  return routes;
}

}  // namespace nearwarp::sim
