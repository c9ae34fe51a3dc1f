// Accel-Sim's traces in place of a workload.
#pragma once

#include <string>
#include <vector>

#include "host/config/policy.h"
#include "host/recording/recording.h"

namespace nearwarp::cli {

/// Throws UsageError if one of the policies needs more than traces of machine instructions have.
void check_policy_for_traces(const config::PolicyConfig& policy, const std::string& path);

/// nearwarp analyze: kernels, launches, instructions, and why there are no candidates. `kernel`:
/// only this one; empty: all.
std::string trace_analysis(const std::string& path, const std::string& kernel);

}  // namespace nearwarp::cli
