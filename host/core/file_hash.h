// The hash of a file's contents, as a name: for keys of results that must survive a copy or a move.
#pragma once

#include <string>

namespace nearwarp {

/// 128 bits of a file's contents in hexadecimal. Throws Error if it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace nearwarp
