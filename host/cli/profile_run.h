// nearwarp run --profile: what a program executed, in place of a simulation of its time.
#pragma once

#include <string>
#include <vector>

#include "host/cli/options.h"
#include "host/recording/recording.h"
#include "host/timing/profile/count.h"
#include "host/timing/report/profile.h"

namespace nearwarp::cli {

/// Declares --profile and --profile-lines.
void declare_profile(CommandLine& line);

/// Throws UsageError for options that do not go with --profile, or not without it. Returns the
/// value of --profile-lines.
size_t profile_lines_option(const CommandLine& line);

/// Count, with a progress bar. Throws nearwarp::Error, after an interrupt too.
report::Profile profile_of(const runtime::Recording& recording, const std::string& name,
                           const std::string& size, profile::Options options);

/// Print the profiles one after the other, and write them to `json` unless that is empty.
void present_profiles(const std::vector<report::Profile>& profiles, size_t most_lines,
                      const std::string& json, const report::ProfileContext& context);

}  // namespace nearwarp::cli
