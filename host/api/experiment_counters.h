// Finds names in an experiment's figures that no run has.
#pragma once

#include "host/api/experiment_state.h"

namespace nearwarp {

/// Throws nearwarp::Error, with the figure, its line and the nearest names, for a counter or a term
/// of the energy account that no run of the figure has, whatever its machine and policy. To find
/// out, a kernel that does nothing is run on these machines until all names are found.
void check_counters(const Experiment::State& e);

}  // namespace nearwarp
