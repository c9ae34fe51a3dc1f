// The backend that steps the points of batches, and the launches that are stepped.
#pragma once

#include <memory>
#include <string>

#include "host/api/nearwarp.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/run/replay_batch.h"

namespace nearwarp {

/// Throws UsageError for what is no backend, nearwarp::Error if there is no such device.
void check_backend(const std::string& backend, int device);
/// The backend that the options name; throws as check_backend() does.
std::unique_ptr<sim::BatchRunner> batch_runner(const BatchOptions& options);
/// Throws UsageError for what launches, sample and cold_caches cannot be.
sim::LaunchChoice launch_choice(const BatchOptions& options);

}  // namespace nearwarp
