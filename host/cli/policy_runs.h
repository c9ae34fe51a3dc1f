// Simulates one recording under several policies, whole systems side by side.
#pragma once

#include <string>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/timing/run/divided_batch.h"

namespace nearwarp::cli {

class LivePage;

/// Results in the order of `policies`. After an interrupt, runs in progress are partial and runs
/// that had not begun are left out. `checkpoints`: the folder where their states are kept until all
/// have ended; empty: nowhere. `watcher` looks at all of them, if it is not null, or `live` does.
/// The first error in that order is thrown when all have stopped. `division`: what of the recording
/// is simulated; a policy of whose parts not all had begun is left out.
std::vector<report::RunResult> run_policies(
    const runtime::Recording& recording, const config::MachineConfig& machine,
    const std::vector<config::PolicyConfig>& policies, sim::BatchRunner& runner,
    const std::string& checkpoints = {}, sim::RunWatcher* watcher = nullptr,
    const runtime::Division& division = {}, LivePage* live = nullptr);

}  // namespace nearwarp::cli
