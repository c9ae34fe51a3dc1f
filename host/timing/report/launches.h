// Which launches of its program a run reports, and what that leaves uncertain, for people and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// The approximations that a run makes, a sentence each; empty: none.
std::vector<std::string> approximations(const LaunchesReport& launches);
/// Why all was simulated in one go: "a sample within 2 % was given up, for ...".
std::string in_one_go_text(const InOneGo& one);
/// Paragraphs; empty if the runs are of whole programs at once.
std::string format_launches(std::span<const RunResult> runs, size_t width);
/// The reason in a run's JSON; none if it was divided or was not to be. Throws Json::exception.
std::optional<InOneGo> in_one_go_of(const nlohmann::ordered_json& run);
nlohmann::ordered_json launches_json(const LaunchesReport& launches);

}  // namespace nearwarp::report
