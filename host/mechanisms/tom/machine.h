// Parts that TOM adds to a machine's graph.
#pragma once

#include "host/config/policy.h"
#include "host/timing/machine/graph.h"
#include "host/timing/machine/shapes/parts.h"

namespace nearwarp::tom {

/// The number of the map, for the mapping "local", under which stack SMs find data in their stack.
inline constexpr uint8_t kLocalMap = 1;

/// Add an SM to each stack, the network of invalidations, the links' monitors, and for a learning
/// phase the CPU's memory, to a main GPU with stacks. Throws nearwarp::Error where the machine's
/// keys forbid it, or its shape lacks the parts that these are linked to.
void add_to_machine(sim::Graph& graph, const sim::Parts& parts, const config::PolicyConfig& policy,
                    bool learning);

}  // namespace nearwarp::tom
