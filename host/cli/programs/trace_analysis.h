// An analysis of a program's Accel-Sim traces, for people.
#pragma once

#include <string>

namespace nearwarp::cli {

/// nearwarp analyze: kernels, launches, instructions, and why there are no candidates. `kernel`:
/// only this one; empty: all.
std::string trace_analysis(const std::string& path, const std::string& kernel);

}  // namespace nearwarp::cli
