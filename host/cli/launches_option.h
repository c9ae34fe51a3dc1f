// --launches and --sample: a part of a program, all of it in parts side by side, or a sample of its
// launches (docs/launches.md).
#pragma once

#include <string>
#include <vector>

#include "host/cli/options.h"
#include "host/config/policy.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/sweep/run.h"

namespace nearwarp::cli {

void declare_launches(CommandLine& line);
/// Throws UsageError for what is neither I..J[:K] nor parallel[:K[:PARTS]] nor, of --sample,
/// ERROR[:[K][:SEED]].
sim::LaunchChoice launches_option(const CommandLine& line);
/// Throws UsageError if one of these options is given, or the runs are on a device.
void check_beside_launches(const CommandLine& line, const std::vector<std::string>& others,
                           bool on_device);
/// Throws UsageError if parts of a program cannot be simulated by themselves under the policy.
void check_policy_for_parts(const config::PolicyConfig& policy);
/// What of each program is simulated, for sweeps, with all that is wrong with the option beside
/// others; null if it is not given. `size`: of programs.
sweep::Divide divide_option(const CommandLine& line, const std::string& size, bool on_device);

}  // namespace nearwarp::cli
