// Counters of offloading in a run's result, and a row for each candidate.
#pragma once

#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"

namespace nearwarp::tom {

/// Append them. TOM is mechanism `number`; `shared`: shared arrays may go along.
void collect_offloading(const runtime::Recording& recording, const OffloadTables& tables,
                        uint32_t number, bool tuned, bool shared, sim::System& system,
                        report::RunResult& result);

}  // namespace nearwarp::tom
