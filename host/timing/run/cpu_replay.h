// Replays a recorded program on a machine under a policy.
#pragma once

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/recording/recording.h"
#include "host/timing/report/result.h"
#include "host/timing/run/cpu_run.h"

namespace nearwarp::sim {

/// Run to the end of the recording (or a limit: the result is then partial). Throws
/// nearwarp::Error if the simulated machine comes to a stop, with a report of who waits on whom,
/// or if something got lost.
report::RunResult replay_on_cpu(const runtime::Recording& recording,
                                const config::MachineConfig& machine,
                                const config::PolicyConfig& policy, const SimOptions& options);

}  // namespace nearwarp::sim
