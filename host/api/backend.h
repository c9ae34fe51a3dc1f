// What steps the points of batches, and what of their programs.
#pragma once

#include <memory>
#include <string>

#include "host/api/nearwarp.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/run/replay_batch.h"

namespace nearwarp {

/// Throws UsageError for what is no backend, nearwarp::Error if there is no such device.
void check_backend(const std::string& backend, int device);
/// The same.
std::unique_ptr<sim::BatchRunner> batch_runner(const BatchOptions& options);
/// Throws UsageError for what launches, sample and cold_caches cannot be.
sim::LaunchChoice launch_choice(const BatchOptions& options);

}  // namespace nearwarp
