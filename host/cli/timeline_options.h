// The options of a run that is looked at: --timeline, --from, --to, --interval, --follow.
#pragma once

#include <optional>

#include "host/cli/options.h"
#include "host/timing/timeline/follow.h"
#include "host/timing/timeline/timeline.h"

namespace nearwarp::cli {

void declare_timeline(CommandLine& line);

/// Nothing if none is wanted. `policies`: how many are simulated. Throws UsageError.
std::optional<timeline::Options> timeline_options(const CommandLine& line, size_t policies);

/// --follow: the same.
std::optional<timeline::Followed> follow_option(const CommandLine& line, size_t policies);

}  // namespace nearwarp::cli
