// The choice of --machine, --policy and --set, for commands that take one policy.
#pragma once

#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// With those of the keys of --set that are its own; `otherwise` where the option is not given;
/// empty: its default. Throw nearwarp::Error.
Machine chosen_machine(const CommandLine& line, const std::string& otherwise = {});
Policy chosen_policy(const CommandLine& line, const std::string& otherwise = {});

}  // namespace nearwarp::cli
