// Errors for files that cannot be read, or are not TOML.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// Throws nearwarp::Error for names of so many parts ("a.b.c"), tables in tables, that the parser
/// would run out of stack.
inline void check_depth(std::string_view text, const std::string& path) {
  constexpr size_t kMostParts = 1000;
  size_t dots = 0;
  uint32_t line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '.') ++dots;
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
    if (dots < kMostParts) continue;
    throw ErrorWithParts<>({.what = fmt::format("not valid TOML ({}:{}): a name has more than {} "
                                                "parts",
                                                path, line, kMostParts),
                            .right = "see https://toml.io",
                            .file = path,
                            .line = line});
  }
}

inline ErrorWithParts<> unreadable(const std::string& path) {
  return ErrorWithParts<>({.what = fmt::format("cannot read '{}'", path),
                           .right = "is it a readable text file?",
                           .file = path});
}

}  // namespace nearwarp::config
