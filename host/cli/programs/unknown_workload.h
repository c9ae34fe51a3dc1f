// The message about a workload that does not exist.
#pragma once

#include <string>

#include "host/core/error.h"

namespace nearwarp::cli {

/// Tells the workloads that are named nearly so and how to see all; `besides` is what else the
/// command takes, e.g. ", or give a .ptx file".
UsageError unknown_workload(const std::string& name, const std::string& besides = {});

/// Throws UsageError for one that does not exist: with the nearest name, or if it is a file, with
/// what to do with that. `command`: the user's.
void check_workload(const std::string& name, const std::string& command = "run");

}  // namespace nearwarp::cli
