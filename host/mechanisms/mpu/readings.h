// The readings of MPU's paper that a policy chooses, where the paper can be read in several ways.
#pragma once

#include "host/config/policy.h"
#include "host/mechanisms/mpu/pass/locations.h"

namespace nearwarp::mpu {

Readings readings_of(const config::PolicyConfig& policy);

}  // namespace nearwarp::mpu
