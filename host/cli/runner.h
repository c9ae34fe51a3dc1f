// What runs the batches of sweeps.
#pragma once

#include <memory>

#include "host/cli/backend.h"
#include "host/timing/run/replay_batch.h"

namespace nearwarp::cli {

/// What runs batches on the backend; `threads` counts on the CPU.
std::unique_ptr<sim::BatchRunner> make_runner(const Backend& backend, unsigned threads);

}  // namespace nearwarp::cli
