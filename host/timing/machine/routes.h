// Which way packets go through the transit nodes of a machine's graph.
#pragma once

#include <vector>

#include "host/timing/machine/graph.h"

namespace nearwarp::sim {

/// Routes of a transit node: by destination the place of the output in LinksOfNode::out, kNoRoute
/// where no path leads there. Invalidations are requests on networks of their own.
struct Routes {
  std::vector<uint16_t> request, reply;
};

/// Shortest paths over links that carry a message class, for each class by itself; among equally
/// short ones the output that comes first. By node; empty for nodes that are no transit nodes.
/// Throws nearwarp::Error where requests and invalidations to one destination would part.
std::vector<Routes> find_routes(const Graph& graph, const std::vector<LinksOfNode>& links);

}  // namespace nearwarp::sim
