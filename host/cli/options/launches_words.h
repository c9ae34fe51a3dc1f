// --launches and --sample: a part of a program, all of it in parts side by side, or a sample of its
// launches (docs/launches.md).
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declares --launches, --sample and --cold-caches.
void declare_launches(CommandLine& line);
/// Sets the options' members from --launches, --sample and --cold-caches. Throws UsageError unless
/// --launches is I..J[:K] or parallel[@CORES|:K[:PARTS]], and --sample is ERROR[:[K][:SEED]].
void set_launches(const CommandLine& line, BatchOptions& options);
/// Throws UsageError if one of the options `others` is given, or if the runs are on a GPU. To be
/// called if --launches or --sample is given.
void check_beside_launches(const CommandLine& line, const std::vector<std::string>& others,
                           bool on_device);
/// Throws UsageError if parts of a program cannot be simulated by themselves under the policy.
void check_policy_for_parts(const Policy& policy);

}  // namespace nearwarp::cli
