// The counters of offloading in the result of a run, with a row for each offloading candidate.
#pragma once

#include "host/mechanisms/tom/offload_tables.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"

namespace nearwarp::tom {

/// Append them to `result`. TOM is mechanism `number` of the system. `tuned`: with the counters of
/// tuned offloading; `shared`: also with those of shared arrays that are sent along.
void collect_offloading(const runtime::Recording& recording, const OffloadTables& tables,
                        uint32_t number, bool tuned, bool shared, sim::System& system,
                        report::RunResult& result);

}  // namespace nearwarp::tom
