// Code that an application brings while it runs: PTX, as a compiler of its own makes it, or a fat
// binary.
#pragma once

#include <string>

namespace nearwarp::cudart {

/// The text or the container that begins at `code`, or that a wrapper there points to: how long it
/// is, it says itself. Throws Failure for what is neither.
std::string code_at(const void* code);
/// The code in a file's contents.
std::string code_of_file(const std::string& contents);

}  // namespace nearwarp::cudart
