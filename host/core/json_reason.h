// Reasons in nlohmann::json's exceptions, for messages.
#pragma once

#include <exception>
#include <string>

namespace nearwarp {

/// The reason without the exception's name: "[json.exception.parse_error.101] parse error at ...".
inline std::string json_reason(const std::exception& error) {
  std::string why = error.what();
  if (const size_t end = why.find("] "); why.starts_with('[') && end != std::string::npos)
    why.erase(0, end + 2);
  return why;
}

}  // namespace nearwarp
