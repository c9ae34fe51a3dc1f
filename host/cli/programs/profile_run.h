// nearwarp run --profile: what a program executed, in place of a simulation of its time.
#pragma once

#include <string>
#include <vector>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declares --profile and --profile-lines.
void declare_profile(CommandLine& line);

/// Throws UsageError for options that do not go with --profile, or not without it. Returns the
/// value of --profile-lines.
size_t profile_lines_option(const CommandLine& line);

struct ProfileRequest {
  Machine machine;
  Words overrides;
  unsigned threads = 1;
  size_t lines = 0;  ///< source lines to print, at most
  std::string json;  ///< path of the JSON file; empty: none
};
/// Makes the programs' profiles, writes them to the JSON file and prints them. Throws
/// nearwarp::Error, after an interrupt too.
void present_profiles(const std::vector<Program>& programs, const ProfileRequest& request);

}  // namespace nearwarp::cli
