// The energy that offload and service queues take.
#pragma once

#include <span>

#include "host/timing/report/energy.h"

namespace nearwarp::opportunistic {

/// Entries that are written and read; a buffer's line is a register of a warp, written and read.
std::span<const report::EnergyRule> energy_of_queues();

}  // namespace nearwarp::opportunistic
