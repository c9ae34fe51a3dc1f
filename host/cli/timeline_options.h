// The options of a run's timeline: --timeline, --from, --to, --interval.
#pragma once

#include <optional>

#include "host/cli/options.h"
#include "host/timing/timeline/timeline.h"

namespace nearwarp::cli {

void declare_timeline(CommandLine& line);

/// Nothing if none is wanted. `policies`: how many are simulated. Throws UsageError.
std::optional<timeline::Options> timeline_options(const CommandLine& line, size_t policies);

}  // namespace nearwarp::cli
