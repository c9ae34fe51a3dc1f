// Options that record what happens in a run: --timeline, --from, --to, --interval, --follow.
#pragma once

#include <optional>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declares --timeline, --from, --to and --interval.
void declare_timeline(CommandLine& line);

/// The timeline that is asked for; empty without --timeline. `policies`: the number of policies
/// that are simulated. Throws UsageError for options that do not go together.
std::optional<TimelineOptions> timeline_options(const CommandLine& line, size_t policies);

/// The value of --follow; empty if it is not given. Throws UsageError as timeline_options() does.
std::string follow_option(const CommandLine& line, size_t policies);

}  // namespace nearwarp::cli
