// Launches of a recording that repeat each other: of the same kernel, with the same dimensions,
// every warp of which went the same way and accessed the same addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// For every launch the index of the first one that it repeats: its own, if there is none before.
std::vector<uint32_t> first_alike(const Recording& recording);

/// Leave out all but the first `most` (>= 1) of launches that repeat each other; the last one that
/// stays stands for those left out (LaunchRecord::stands_for). The recording's totals are then of
/// what stays. One that is left out takes no time where it was: what waited for it waits for what
/// it waited for itself.
void limit_repeats(Recording& recording, uint32_t most);

}  // namespace nearwarp::runtime
