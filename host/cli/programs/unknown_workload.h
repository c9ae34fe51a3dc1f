// Errors for workloads that do not exist.
#pragma once

#include <string>

#include "host/core/error.h"

namespace nearwarp::cli {

/// An error that names the workloads of the nearest names, and the command that lists all.
/// `besides`: what else the user's command takes, e.g. ", or give a .ptx file".
UsageError unknown_workload(const std::string& name, const std::string& besides = {});

/// Throws UsageError if there is no workload of this name: with the nearest names or, if it is the
/// name of a file, with advice on that. `command`: the user's command.
void check_workload(const std::string& name, const std::string& command = "run");

}  // namespace nearwarp::cli
