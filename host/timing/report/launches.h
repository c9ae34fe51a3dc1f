// Which launches of its program a run reports, and what that leaves uncertain, for people and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// What was approximated, a sentence each; empty: nothing.
std::vector<std::string> approximations(const LaunchesReport& launches);
/// Why all was simulated in one go: "a sample within 2 % was given up, for ...".
std::string in_one_go_text(const InOneGo& one);
/// Paragraphs; empty if the runs are of whole programs at once.
std::string format_launches(std::span<const RunResult> runs, size_t width);
/// Of a run's JSON; nothing if it was divided, or that was not wanted. Throws Json::exception.
std::optional<InOneGo> in_one_go_of(const nlohmann::ordered_json& run);
nlohmann::ordered_json launches_json(const LaunchesReport& launches);

}  // namespace nearwarp::report
