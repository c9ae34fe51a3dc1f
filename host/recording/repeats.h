// Finds launches of a recording that repeat each other: launches of the same kernel with the same
// dimensions, whose warps took the same paths and accessed the same addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// For each launch, the index of the first launch that it repeats, which may be its own.
std::vector<uint32_t> first_alike(const Recording& recording);

/// Leave out all but the first `most` (>= 1) of launches that repeat each other; the last one that
/// is kept stands for those left out (LaunchRecord::stands_for). The recording's totals become
/// those of the kept launches. Launches that waited for one that is left out wait for those that it
/// waited for.
void limit_repeats(Recording& recording, uint32_t most);

}  // namespace nearwarp::runtime
