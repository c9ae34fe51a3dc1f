// What TOM adds to a machine: to its graph, and to the components' States.
#pragma once

#include <vector>

#include "device/core/arena.h"
#include "device/core/memory_map.h"
#include "device/frontend/front_end.h"
#include "device/sm/sm_state.h"
#include "host/timing/machine/graph.h"

namespace nearwarp::sim {

struct Parts;

// --- graph ---

/// The nodes of a main GPU with stacks that TOM's parts are linked to.
struct StackedNodes {
  uint16_t sm_class = 0, switch_class = 0, port_class = 0, front_end_class = 0;
  uint32_t vault_homes = 0;
  NodeId request_network = kNoNode, reply_network = kNoNode, front_end = kNoNode;
  std::vector<NodeId> sms, slices, ports, switches;
};

/// Add an SM to each stack, the network of invalidations, the links' monitors, and for a learning
/// phase the CPU's memory. Throws nearwarp::Error where the machine's keys forbid it.
void add_tom(Graph& graph, const Parts& parts, const StackedNodes& nodes);

// --- layout ---

TomTables make_tom_tables(ArenaBuilder& arena, const TomData& data, MemoryMap& map);
template <uint32_t kWords>
void make_tom_sm_state(ArenaBuilder& arena, const TomData& data, const TomTables& tables,
                       const sm::SmParams& params, sm::SmStateOf<kWords>& state);
/// `from_ports`: the link ports' control channels, by stack.
void make_tom_front_end_state(ArenaBuilder& arena, const TomData& data,
                              const std::vector<Ref<Channel>>& from_ports,
                              frontend::FrontEndState& state);

}  // namespace nearwarp::sim
