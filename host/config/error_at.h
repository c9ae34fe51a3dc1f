// Errors with a place: "file:line", or an override.
#pragma once

#include <string>
#include <utility>

#include "host/config/overrides.h"
#include "host/core/error_parts.h"

namespace nearwarp::config {

/// The error "what (place) - right", where `right` says what would be right.
inline ErrorParts at_place(const std::string& what, const std::string& place, std::string right) {
  std::string said = what + " (" + place + ")";
  if (mentions_change(place)) return {.what = std::move(said), .right = std::move(right)};
  return parts_at(place, std::move(said), std::move(right));
}

/// A suggestion() without its leading " - ".
inline std::string without_dash(const std::string& suggestion) {
  return suggestion.empty() ? "" : suggestion.substr(3);
}

/// Throws UsageError for a value from the command line, Error for one from a file.
[[noreturn]] inline void fail_by_place(const std::string& place, ErrorParts parts) {
  if (is_change(place)) throw ErrorWithParts<UsageError>(std::move(parts));
  throw ErrorWithParts<>(std::move(parts));
}

}  // namespace nearwarp::config
