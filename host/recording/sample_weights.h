// How many units each one of a sample stands for.
#pragma once

#include <vector>

#include "host/recording/launch_sample.h"

namespace nearwarp::runtime {

/// Each unit stands for as many as its stratum has over those simulated, a little more or less so
/// that the sizes of a group with a line add up to what they are. `stratum_sizes`: of all units, by
/// stratum.
void set_weights(LaunchSample& sample, const std::vector<double>& stratum_sizes);

}  // namespace nearwarp::runtime
