// Programs by the names that users know them by: "kmeans", "app.nwtrace", "kmeans@0+libor@1-3".
#pragma once

#include <string>
#include <vector>

#include "host/config/policy.h"
#include "host/recording/bind.h"

namespace nearwarp::programs {

/// The programs joined by "+", which run at the same time; a file of that name is one.
std::vector<std::string> programs_joined(const std::string& programs);

/// A program's name and the stacks after it; a file of that name has none. Throws UsageError.
runtime::BoundName bound_program(const std::string& program);

/// Throws UsageError for a policy that Accel-Sim's traces at `path` do not suffice for.
void check_policy_for_traces(const config::PolicyConfig& policy, const std::string& path);

}  // namespace nearwarp::programs
