// The baseline mapping of a machine: which stack, vault, bank and L2 slice a line belongs to.
#pragma once

#include <string_view>

#include "device/core/address_map.h"
#include "host/config/machine.h"

namespace nearwarp::sim {

/// The mapping that the simulated machine and all analyses of it use.
AddressMap machine_address_map(const config::MachineConfig& machine);

/// Stacks that it tells apart: memory stacks, memory partitions, or cores with banks of their own.
uint32_t mapped_stacks(const config::MachineConfig& machine);

/// Throws nearwarp::Error if the machine has no memory stacks, which `who` needs.
void require_stacks(const config::MachineConfig& machine, std::string_view who);

}  // namespace nearwarp::sim
