// Service queues of SMs in a machine: their links, where data meets, and whether there is room for
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/opportunistic/meet_node.h"
#include "host/timing/machine/shapes/parts.h"
#include "host/timing/machine/system.h"

namespace nearwarp::opportunistic {

/// Bytes of an SM's shared memory that its service queue takes: a line for each operand of each of
/// its entries.
uint64_t service_bytes(const config::MachineConfig& machine, const config::PolicyConfig& policy);

/// Can SMs execute chains of others? Not if a kernel of which an SM takes as many thread blocks as
/// fit leaves too little shared memory for the service queue (section 4.5), and not in a network
/// that has no SMs on the ways through it.
bool sms_can_serve(const config::MachineConfig& machine, const config::PolicyConfig& policy,
                   const sim::ImageTables& image);

/// Each SM takes in requests from the network of requests and sends replies into that of replies.
void link_service_queues(sim::Graph& graph, const sim::Parts& parts);

/// Where data of two slices meets on its way to each SM, as endpoints.
struct Meetings {
  std::vector<uint8_t> slice_at;          ///< by endpoint: number of the slice
  std::vector<std::vector<Endpoint>> of;  ///< by SM: [slice * slices + slice]
  uint32_t slices = 0;
};
Meetings find_meetings(const sim::System& system, const sim::Tiles& tiles, uint32_t sms_per_cluster,
                       Ways ways);
/// The ways through the network under the policy.
Ways ways_of(const config::MachineConfig& machine, const config::PolicyConfig& policy);

}  // namespace nearwarp::opportunistic
