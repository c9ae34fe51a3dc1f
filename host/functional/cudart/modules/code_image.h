// Code that an application loads at run time: PTX, often made by a compiler of its own, or a fat
// binary.
#pragma once

#include <string>

namespace nearwarp::cudart {

/// The PTX text or the container at `code`, or that a wrapper at `code` points to. Its length
/// follows from its contents. Throws Failure for other data.
std::string code_at(const void* code);
/// The code in a file's contents.
std::string code_of_file(const std::string& contents);

}  // namespace nearwarp::cudart
