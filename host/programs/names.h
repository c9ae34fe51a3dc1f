// Parses the names by which users give programs: "kmeans", "app.nwtrace", "kmeans@0+libor@1-3".
#pragma once

#include <string>
#include <vector>

#include "host/config/policy.h"
#include "host/recording/bind.h"

namespace nearwarp::programs {

/// The programs that "+" joins, which run at the same time. If a file has the whole name, it is one
/// program.
std::vector<std::string> programs_joined(const std::string& programs);

/// A program's name and the stacks behind its "@". If a file has the whole name, there are no
/// stacks. Throws UsageError.
runtime::BoundName bound_program(const std::string& program);

/// Throws UsageError for a policy that needs PTX, which Accel-Sim's traces at `path` do not have.
void check_policy_for_traces(const config::PolicyConfig& policy, const std::string& path);

}  // namespace nearwarp::programs
