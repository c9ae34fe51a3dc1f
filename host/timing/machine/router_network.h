// Networks of virtual-channel routers in a machine: which router an SM cluster or an L2 slice is
// at.
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

/// Lay out such a network; `ends` as of make_router_network().
Crossbar make_crossbar(ArenaBuilder& arena, const RouterNetworkSpec& spec,
                       const noc::ChannelEndsParams& ends, std::span<const SwitchLink> inputs,
                       std::span<const SwitchLink> outputs);

/// Lay out the network that the keys describe between channels; see make_channel_network().
/// `ends` has what does not follow from the spec: period, component, endpoints.
///
/// mesh: with tiles by the spec, or as square as it gets, memory ports spread evenly among the
/// clusters', row by row. crossbar: one router. butterfly: as many stages as the ports, or tiles,
/// need.
RouterNetwork make_router_network(ArenaBuilder& arena, const RouterNetworkSpec& spec,
                                  const noc::ChannelEndsParams& ends,
                                  std::span<const SwitchLink> inputs,
                                  std::span<const SwitchLink> outputs);

}  // namespace nearwarp::sim
