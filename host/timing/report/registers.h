// Registers per thread of a program's kernels, and who counted them.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// A table of the kernels that were launched, one for all policies or for those that have the same
/// numbers; empty if none was. Lines stay within 80 columns.
std::string format_registers(std::span<const RunResult> runs, size_t width = 80);

}  // namespace nearwarp::report
