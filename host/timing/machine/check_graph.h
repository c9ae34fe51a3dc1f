// Can a machine's graph be built, and does every packet find its way?
#pragma once

#include <vector>

#include "host/timing/machine/graph.h"
#include "host/timing/machine/routes.h"

namespace nearwarp::sim {

/// Throws nearwarp::Error if a transit node has more links or ports than its model holds, a table
/// of homes has gaps, or a requester does not reach a home and back.
void check_graph(const Graph& graph, const std::vector<LinksOfNode>& links, const Ways& ways);

}  // namespace nearwarp::sim
