// Accel-Sim's traces in place of a workload.
#pragma once

#include "host/programs/names.h"

namespace nearwarp::cli {

using programs::check_policy_for_traces;

}  // namespace nearwarp::cli
