// From a machine's graph to a system: the generic passes.
#pragma once

#include "host/timing/machine/shared_ways.h"
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

/// Number the nodes, allocate channels, find routes, lay out the components' States, compute the
/// window. Throws nearwarp::Error for a graph that cannot be built: see check_graph(). Routes are
/// the same whether `ways` had them or not.
System lay_out(const Graph& graph, SharedWays& ways = SharedWays::common());

}  // namespace nearwarp::sim
