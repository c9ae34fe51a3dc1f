// From the components' counters to a run's result.
#pragma once

#include "host/mechanisms/mechanism.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"
#include "host/timing/report/result.h"

namespace nearwarp::sim {

/// Fill counters, traffic, cycles and kernel rows of `result`; `now_cycle` ends a partial run.
void collect(const runtime::Recording& recording, const ImageTables& image,
             const MechanismRuns& mechanisms, System& system, uint64_t now_cycle,
             report::RunResult& result);

}  // namespace nearwarp::sim
