// Fills the L2 before a run begins.
#pragma once

#include <span>

#include "host/config/machine.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

/// As if all that the programs allocate had been copied there, in this order, just before: the last
/// of it lies in the L2, clean. Nothing is counted. Address spaces have been mapped.
void preload_l2(std::span<const runtime::Allocation> allocations,
                const config::MachineConfig& machine, System& system);

}  // namespace nearwarp::sim
