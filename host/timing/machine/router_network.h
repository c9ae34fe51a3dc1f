// Networks of virtual-channel routers in a machine, with the places of SM clusters and L2 slices.
#pragma once

#include <span>

#include "device/core/arena.h"
#include "device/noc/channel_network.h"
#include "device/noc/crossbar_state.h"
#include "host/timing/machine/specs.h"
#include "host/timing/noc/topology.h"

namespace nearwarp::sim {

struct RouterNetwork {
  noc::Topology topology;
  noc::ChannelNetworkParams params;
  noc::ChannelNetworkState state;
};

struct Crossbar {
  noc::CrossbarParams params;
  noc::CrossbarState state;
};

/// Is the network one router of one virtual channel per port, which noc::step_crossbar() steps in
/// events?
bool is_crossbar_of_queues(const RouterNetworkSpec& spec);

/// Lay out a network for which is_crossbar_of_queues() is true. `ends`: see make_router_network().
Crossbar make_crossbar(ArenaBuilder& arena, const RouterNetworkSpec& spec,
                       const noc::ChannelEndsParams& ends, std::span<const SwitchLink> inputs,
                       std::span<const SwitchLink> outputs);

/// Lay out the network that the keys describe between channels; see make_channel_network().
/// `ends` has what does not follow from the spec: period, component, endpoints.
///
/// A mesh has the tiles of the spec, if there are any; else it is as square as possible, with
/// memory ports spread evenly among those of clusters, row by row. A crossbar is one router. A
/// butterfly has as many stages as the number of ports, or tiles, needs.
RouterNetwork make_router_network(ArenaBuilder& arena, const RouterNetworkSpec& spec,
                                  const noc::ChannelEndsParams& ends,
                                  std::span<const SwitchLink> inputs,
                                  std::span<const SwitchLink> outputs);

}  // namespace nearwarp::sim
