// How a policy reads the paper where it allows several readings.
#pragma once

#include "host/config/policy.h"
#include "host/mechanisms/mpu/pass/locations.h"

namespace nearwarp::mpu {

Readings readings_of(const config::PolicyConfig& policy);

}  // namespace nearwarp::mpu
