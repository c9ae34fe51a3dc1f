// Points that several sweeps have.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

/// For each of sweeps that run one after the other, the positions of points that an earlier one
/// has. No more points are made than have the same program, machine and policy by name, and the
/// same values of all that is set in either sweep. What two sweeps have under different names is
/// not found; it is run for both, to the same result.
std::vector<std::unordered_set<size_t>> points_of_earlier(std::span<const Plan* const> plans);

}  // namespace nearwarp::sweep
