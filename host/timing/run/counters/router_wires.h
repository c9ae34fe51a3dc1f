// The wires between routers of a machine, and what they have carried so far.
#pragma once

#include <string>
#include <vector>

#include "host/timing/machine/system.h"
#include "host/timing/report/use.h"

namespace nearwarp::sim {

/// Networks of routers, wire by wire, up to `tick`: those that are components of their own, and
/// routers that are a node each.
std::vector<report::RouterNetwork> router_networks(System& system, Tick tick);

}  // namespace nearwarp::sim
