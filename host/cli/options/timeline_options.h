// The options of a run that is looked at: --timeline, --from, --to, --interval, --follow.
#pragma once

#include <optional>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

void declare_timeline(CommandLine& line);

/// Nothing if none is wanted. `policies`: how many are simulated. Throws UsageError.
std::optional<TimelineOptions> timeline_options(const CommandLine& line, size_t policies);

/// --follow: the same; empty if nothing is.
std::string follow_option(const CommandLine& line, size_t policies);

}  // namespace nearwarp::cli
