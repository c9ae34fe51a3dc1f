// What a file contains, as a name: for keys of results that must survive a copy or a move.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "host/core/error.h"
#include "host/core/hash.h"

namespace nearwarp {

/// 128 bits of a file's contents in hexadecimal. Throws Error if it cannot be read.
inline std::string file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<uint64_t, 2> hash = {1, 2};
  std::vector<char> piece(1 << 20);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const std::string_view text(piece.data(), static_cast<size_t>(file.gcount()));
    for (uint64_t& h : hash) h = content_hash(text, h);
  }
  if (!file.eof()) throw Error("cannot read '" + path + "' - check the path");
  std::array<char, 33> digits = {};
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash[0]), static_cast<unsigned long long>(hash[1]));
  return digits.data();
}

}  // namespace nearwarp
