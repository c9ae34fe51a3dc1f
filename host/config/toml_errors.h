// Errors for files that cannot be read, or are not TOML.
#pragma once

#include <fmt/format.h>

#include <string>

#include "host/core/error_parts.h"

namespace nearwarp::config {

/// The error for a toml::parse_error.
template <class ParseError>
ErrorWithParts<> not_toml(const std::string& path, const ParseError& error) {
  const auto line = static_cast<uint32_t>(error.source().begin.line);
  return ErrorWithParts<>(
      {.what = fmt::format("not valid TOML ({}:{}): {}", path, line, error.description()),
       .right = "see https://toml.io",
       .file = path,
       .line = line});
}

inline ErrorWithParts<> unreadable(const std::string& path) {
  return ErrorWithParts<>({.what = fmt::format("cannot read '{}'", path),
                           .right = "is it a readable text file?",
                           .file = path});
}

}  // namespace nearwarp::config
