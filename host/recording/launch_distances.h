// How far launches' thread blocks are from those that used the same memory first, as traces tell:
// where SMs lie in the parts of a memory, what is placed for some has a way to others.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// By launch, of the lines that its thread blocks touch: how many bits the number has that says how
/// far the thread block is from those that touched the line's page in the launch which did so
/// first, in 1024ths of the grid; summed. Local memory is the thread blocks' own.
std::vector<uint64_t> launch_distances(const Recording& recording);

}  // namespace nearwarp::runtime
