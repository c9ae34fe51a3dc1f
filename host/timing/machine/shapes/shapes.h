// The shapes of machines: each is a generator that fills a graph, in a file of its own.
#pragma once

#include "host/timing/machine/graph.h"
#include "host/timing/machine/shapes/parts.h"

namespace nearwarp::sim {

/// The graph of a machine under a policy, by the machine's shape.
Graph make_graph(const ShapeInputs& inputs);

/// "stacked": a main GPU whose L2 slices stand before the off-chip links of memory stacks, which
/// may compute.
Graph make_stacked(const Parts& parts);

/// "discrete": a GPU whose L2 slices stand directly before the channels of memory partitions.
Graph make_discrete(const Parts& parts);

/// "mesh": a discrete GPU whose SMs and partitions have tiles in its networks.
Graph make_mesh(const Parts& parts);

/// "stacks": memory stacks with SMs and an L2 each, linked with each other; there is no other GPU.
Graph make_stacks(const Parts& parts);

/// "near_bank": cores on a mesh, each below banks of its own.
Graph make_near_bank(const Parts& parts);

}  // namespace nearwarp::sim
