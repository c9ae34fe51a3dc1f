// The energy that MPU's cores take besides that of every core.
#pragma once

#include <span>

#include "host/timing/report/energy.h"

namespace nearwarp::mpu {

/// A register that moves is read on one side and written on the other.
std::span<const report::EnergyRule> energy_of_moves();

}  // namespace nearwarp::mpu
