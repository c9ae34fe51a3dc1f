// A feature of launches: how far their thread blocks are, in the grid, from those that used the
// same memory first. On machines whose SMs lie in the parts of memory, a page is near to the SMs
// that used it first, and its data travels to others.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// By launch, the sum over the lines that its thread blocks touch of the bit width of a distance:
/// that of the thread block, in 1024ths of the grid, from those that touched the line's page in the
/// first launch which touched it. Local memory is left out.
std::vector<uint64_t> launch_distances(const Recording& recording);

}  // namespace nearwarp::runtime
