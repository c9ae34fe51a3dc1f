// What MPU's cores take besides what every core does.
#pragma once

#include <span>

#include "host/timing/report/energy.h"

namespace nearwarp::mpu {

/// A register that moves is read on one side and written on the other.
std::span<const report::EnergyRule> energy_of_moves();

}  // namespace nearwarp::mpu
