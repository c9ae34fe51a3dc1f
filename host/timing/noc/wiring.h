// From a configuration and its topology to parameters, and to routers that are wired.
#pragma once

#include "device/noc/build.h"
#include "host/timing/noc/config.h"
#include "host/timing/noc/topology.h"

namespace nearwarp::noc {

/// Parameters of a network by its topology: routers, terminals and their ports.
NetworkParams params_of(const Topology& topology);
/// Sets the parameters by the configuration: the routers themselves.
void set_routers(const NocConfig& config, NetworkParams& params);
/// Parameters by topology and configuration.
NetworkParams params_of(const NocConfig& config, const Topology& topology);

/// Wire routers and terminals as the topology says, and enter its routes. Latencies in cycles, of
/// flits and credits: of wires between routers, and 1 between terminals and routers.
void wire(const Topology& topology, const NetworkParams& params, const NetworkState& state,
          std::byte* base, uint32_t latency);

}  // namespace nearwarp::noc
