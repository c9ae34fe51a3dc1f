// Hashes files piece by piece.
#include "host/core/file_hash.h"

#include <fstream>
#include <vector>

#include "host/core/error_parts.h"
#include "host/core/hash.h"

namespace nearwarp {

std::string file_hash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Hasher hasher;
  std::vector<char> piece(1 << 20);
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hasher.add(std::as_bytes(std::span(piece.data(), static_cast<size_t>(file.gcount()))));
  }
  if (!file.eof()) throw file_error(path, "cannot read '" + path + "'", "check the path");
  return hasher.result().hex();
}

}  // namespace nearwarp
