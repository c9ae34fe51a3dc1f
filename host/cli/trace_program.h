// Accel-Sim's traces in place of a workload.
#pragma once

#include <string>
#include <vector>

#include "host/config/policy.h"
#include "host/recording/recording.h"

namespace nearwarp::cli {

/// Read the program's traces; what is approximated is said on standard error. With a `cache`
/// folder, what was read before from the same files is used instead, and kept there. Throws
/// nearwarp::Error for what cannot be used, and after an interrupt.
runtime::Recording read_traces(const std::string& path, const std::string& cache);

/// Changes with the program's files, as 32 hexadecimal digits.
std::string trace_key(const std::string& path);

/// Throws UsageError if one of the policies needs more than traces of machine instructions have.
void check_policy_for_traces(const config::PolicyConfig& policy, const std::string& path);

/// nearwarp analyze: kernels, launches, instructions, and why there are no candidates. `kernel`:
/// only this one; empty: all.
std::string trace_analysis(const std::string& path, const std::string& kernel);

}  // namespace nearwarp::cli
