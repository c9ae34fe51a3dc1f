// Where a policy has put the program's memory objects, for people.
#pragma once

#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// A table of the objects, with a legend; empty if the policy places none.
std::string format_placement(const RunResult& run, size_t width = 80);

}  // namespace nearwarp::report
