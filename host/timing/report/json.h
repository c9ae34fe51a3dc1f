// Results as JSON for programs; the schema is documented in docs/json.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// Changes with every change that could break a reader.
inline constexpr const char* kRunSchema = "nearwarp.run/1";

/// Facts that hold for all runs of a document.
struct RunContext {
  std::string version;  ///< of nearwarp
  /// Effective configuration: keys with their values as written in TOML.
  std::vector<std::pair<std::string, std::string>> machine;
};

/// The text of a TOML value as JSON: "4" is a number, "true" a truth value, "\"gto\"" a text. Text
/// that JSON does not know is a text as a whole.
nlohmann::ordered_json value_json(const std::string& toml);

/// One member of `runs`.
nlohmann::ordered_json run_json(const RunResult& run);

/// The document, indented by two, with a newline at its end.
std::string format_json(std::span<const RunResult> runs, const RunContext& context);

}  // namespace nearwarp::report
