// Finds and executes the workload for an analysis of traces.
#pragma once

#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"
#include "host/cli/progress/notes.h"

namespace nearwarp::cli {

/// Whether the name is one of a file of Accel-Sim's traces.
bool names_traces(const std::string& name);

/// Throws UsageError, with what `option` (without dashes) needs, if there is no workload of that
/// name.
void check_traced_workload(const std::string& name, const std::string& option);

/// The command line's workload, executed at its --size, or taken from its --trace-cache.
Program traced_workload(const CommandLine& line, Notes& notes);

}  // namespace nearwarp::cli
