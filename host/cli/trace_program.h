// Accel-Sim's traces in place of a workload.
#pragma once

#include <string>

#include "host/programs/names.h"

namespace nearwarp::cli {

using programs::check_policy_for_traces;

/// nearwarp analyze: kernels, launches, instructions, and why there are no candidates. `kernel`:
/// only this one; empty: all.
std::string trace_analysis(const std::string& path, const std::string& kernel);

}  // namespace nearwarp::cli
