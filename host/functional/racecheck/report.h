// Findings as text for people and as JSON for programs (docs/check.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "host/functional/racecheck/hazard.h"

namespace nearwarp::racecheck {

/// Changes with every change that could break a reader.
inline constexpr const char* kCheckSchema = "nearwarp.check/1";

/// A paragraph per entry, `most` at most: hazards, misuses, unwritten reads, those of equal rank as
/// they were found; then a line that sums up.
std::string format_text(const Findings& findings, size_t most);
/// One member of `programs`.
nlohmann::ordered_json to_json(const Findings& findings);
/// The findings of to_json(). Throws nearwarp::Error for other documents.
Findings from_json(const nlohmann::ordered_json& json);
/// Read findings from a file of to_json(). Throws nearwarp::Error.
Findings load_findings(const std::string& path);
/// The document, indented by two, with a newline at its end.
std::string format_json(std::span<const Findings> programs, const std::string& version);

}  // namespace nearwarp::racecheck
