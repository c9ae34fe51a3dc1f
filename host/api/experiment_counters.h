// Names in an experiment's figures that no run can have.
#pragma once

#include "host/api/experiment_state.h"

namespace nearwarp {

/// Throws nearwarp::Error for a counter, or a term of the energy account, that is none of any
/// machine and policy that a figure has: with the figure, its line, and the nearest names. Machines
/// are asked with a kernel that does nothing, only as many as it takes to find all names.
void check_counters(const Experiment::State& e);

}  // namespace nearwarp
