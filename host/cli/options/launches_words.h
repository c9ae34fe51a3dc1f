// --launches and --sample: a part of a program, all of it in parts side by side, or a sample of its
// launches (docs/launches.md).
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

void declare_launches(CommandLine& line);
/// As given. Throws UsageError for what is neither I..J[:K] nor parallel[@CORES|:K[:PARTS]] nor,
/// of
/// --sample, ERROR[:[K][:SEED]].
void set_launches(const CommandLine& line, BatchOptions& options);
/// Throws UsageError if one of these options is given, or the runs are on a device.
void check_beside_launches(const CommandLine& line, const std::vector<std::string>& others,
                           bool on_device);
/// Throws UsageError if parts of a program cannot be simulated by themselves under the policy.
void check_policy_for_parts(const Policy& policy);

}  // namespace nearwarp::cli
