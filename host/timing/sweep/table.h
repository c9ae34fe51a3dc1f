// Results of a sweep, as a table for people and as CSV for programs.
#pragma once

#include <string>

#include "host/timing/sweep/plan.h"
#include "host/timing/sweep/results_file.h"

namespace nearwarp::sweep {

/// Speed-ups over the first policy, a row for each program, machine and choice of values that is
/// otherwise the same; with many of them, a row per program with the geometric mean and the range.
/// Points that are not in the file are "-". Lines stay within `width` columns.
std::string format_table(const Plan& plan, const ResultsFile& file, size_t width = 80);

/// One row per point of the shard, in the order of the sweep, those that are not in the file left
/// out; a column for every key with several values.
std::string format_csv(const Plan& plan, const Shard& shard, const ResultsFile& file);

}  // namespace nearwarp::sweep
