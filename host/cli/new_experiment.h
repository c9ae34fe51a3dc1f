// Writes an experiment's file for a program of the user's own.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

/// The text of an experiment on an application with its arguments, or on one word that names a
/// workload, a recording or traces. `path` is where it is to be, for paths in it.
std::string new_experiment_text(const std::string& path, const Words& program, bool application);

}  // namespace nearwarp::cli
