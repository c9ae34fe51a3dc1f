// Registers per thread of a program's kernels, and who counted them.
#pragma once

#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// A table of the kernels that were launched; empty if none was. Lines stay within 80 columns.
std::string format_registers(const RunResult& run);

}  // namespace nearwarp::report
