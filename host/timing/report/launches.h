// Which launches of its program a run reports, and what that leaves uncertain, for people and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// What was approximated, a sentence each; empty: nothing.
std::vector<std::string> approximations(const LaunchesReport& launches);
/// A paragraph; empty if the runs are of whole programs at once.
std::string format_launches(std::span<const RunResult> runs, size_t width);
nlohmann::ordered_json launches_json(const LaunchesReport& launches);

}  // namespace nearwarp::report
