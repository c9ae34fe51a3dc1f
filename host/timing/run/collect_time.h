// Counters that grow with time whatever the machine does: what links could have carried, and how
// long components were there. The energy account needs them.
#pragma once

#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"

namespace nearwarp::sim {

/// Append the counters; `result.cycles` must be set.
void collect_time(System& system, report::RunResult& result);

}  // namespace nearwarp::sim
