// Weights of a sample's units: the numbers of units that they stand for.
#pragma once

#include <vector>

#include "host/recording/launch_sample.h"

namespace nearwarp::runtime {

/// Sets SampleUnit::weight of all parts. A weight is the stratum's number of units over that of its
/// sampled units, changed a little so that in a group with a line the weighted sizes add up to the
/// sum of all sizes. `stratum_sizes` has that sum by stratum.
void set_weights(LaunchSample& sample, const std::vector<double>& stratum_sizes);

}  // namespace nearwarp::runtime
