// The machine and policy that --machine, --policy and --set choose, for commands that take one
// policy.
#pragma once

#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// The machine or policy that the command line names, changed by the keys of --set that belong to
/// it. If the option is not given, it is `otherwise`, or if that is empty the option's default.
/// Both throw nearwarp::Error.
Machine chosen_machine(const CommandLine& line, const std::string& otherwise = {});
Policy chosen_policy(const CommandLine& line, const std::string& otherwise = {});

}  // namespace nearwarp::cli
