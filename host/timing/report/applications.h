// Several programs that ran at the same time.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// A table of when each program ended, by policy. Empty where one program ran.
std::string format_applications(std::span<const RunResult> runs, size_t width = 80);

}  // namespace nearwarp::report
