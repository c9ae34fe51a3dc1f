// What a run's result says of offloading: its counters, and a row for each candidate.
#pragma once

#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"
#include "host/timing/report/result.h"

namespace nearwarp::sim {

/// Append them; the machine must have stack SMs.
void collect_offloading(const runtime::Recording& recording, const ImageTables& image,
                        System& system, report::RunResult& result);

}  // namespace nearwarp::sim
