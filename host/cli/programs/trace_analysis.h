// A text about the Accel-Sim traces of a program.
#pragma once

#include <string>

namespace nearwarp::cli {

/// The output of 'nearwarp analyze' for traces: kernels, launches, instructions, and why there are
/// no candidates. `path`: kernelslist.g; `kernel`: only this one, or all if empty. Throws
/// nearwarp::Error.
std::string trace_analysis(const std::string& path, const std::string& kernel);

}  // namespace nearwarp::cli
