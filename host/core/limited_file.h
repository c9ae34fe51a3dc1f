// Reads files that users name, and that may be too large for memory or without an end.
#pragma once

#include <cstddef>
#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "host/core/error_parts.h"

namespace nearwarp {

/// The contents of a file of at most 256 MiB. `kind`: what it should be, for messages, e.g. "PTX".
/// Throws nearwarp::Error if it cannot be read, or is larger.
inline std::string read_limited_file(const std::string& path, const std::string& kind) {
  constexpr size_t kMostMib = 256;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw file_error(path, "cannot open the " + kind + " file '" + path + "'", "a readable file");
  std::string text;
  std::vector<char> part(size_t{1} << 20);
  try {  // reading a folder throws
    while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0) {
      text.append(part.data(), static_cast<size_t>(file.gcount()));
      if (text.size() > kMostMib << 20)
        throw file_error(path, "'" + path + "' has more than " + std::to_string(kMostMib) + " MiB",
                         "a file of " + kind);
    }
  } catch (const std::ios_base::failure&) {
    file.setstate(std::ios::badbit);
  }
  if (file.bad())
    throw file_error(path, "cannot read the " + kind + " file '" + path + "'", "a readable file");
  return text;
}

}  // namespace nearwarp
