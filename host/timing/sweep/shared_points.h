// Finds points that several sweeps have in common.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

#include "host/timing/sweep/plan.h"

namespace nearwarp::sweep {

/// For each of several sweeps that run one after the other, the indices of those of its points that
/// an earlier sweep has. Only points are made and compared that have the same program, machine and
/// policy by name, and the same values of all keys that either sweep sets. Equal points under
/// different names are not found: they run twice, with the same result.
std::vector<std::unordered_set<size_t>> points_of_earlier(std::span<const Plan* const> plans);

}  // namespace nearwarp::sweep
