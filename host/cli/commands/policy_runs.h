// Simulates one program under several policies, side by side, with a progress bar.
#pragma once

#include <vector>

#include "host/api/nearwarp.h"

namespace nearwarp::cli {

class LivePage;

/// Results in the order of `policies`. After an interrupt, runs in progress are partial and runs
/// that had not begun are left out. The first error in that order is thrown when all have stopped.
/// `live`, unless it is null, shows the runs.
std::vector<Result> run_policies(const Program& program, const Machine& machine,
                                 const std::vector<Policy>& policies, BatchOptions how,
                                 LivePage* live = nullptr);

}  // namespace nearwarp::cli
