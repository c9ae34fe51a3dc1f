// What to say of a workload that does not exist.
#pragma once

#include <string>

#include "host/core/error.h"

namespace nearwarp::cli {

/// Tells the workloads that are named nearly so and how to see all; `besides` is what else the
/// command takes, e.g. ", or give a .ptx file".
UsageError unknown_workload(const std::string& name, const std::string& besides = {});

}  // namespace nearwarp::cli
