// Results as a table for people.
#pragma once

#include <span>
#include <string>

#include "host/timing/report/columns.h"
#include "host/timing/report/result.h"

namespace nearwarp::report {

/// The runs of one workload side by side, a column each; speed-ups are over the first. Lines stay
/// within `width` columns: what does not fit beside one another comes below.
std::string format_table(std::span<const RunResult> runs, size_t width = 80, bool legend = true);

}  // namespace nearwarp::report
