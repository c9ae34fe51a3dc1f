// Hashes of files' contents, for keys of results that must survive a copy or a move of the file.
#pragma once

#include <string>

namespace nearwarp {

/// The 128-bit hash of a file's contents in hexadecimal. Throws Error if it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace nearwarp
