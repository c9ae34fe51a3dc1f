// Divides a program into parts that are simulated in parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Cores that a program is divided for by default. The number is fixed, since results must not
/// depend on the host.
inline constexpr uint32_t kUsualCores = 2;

/// Divides a program at cuts into consecutive parts. Each part is simulated after the `before`
/// launches that precede it (its lead-in), which are thus simulated twice. The first `together`
/// launches are not divided.
///
/// With `most` != 0 there are at most so many parts. The largest cost of a part with its lead-in is
/// minimal, or nearly, and of such divisions the one with the least repeated work is chosen. With
/// `most` == 0, the number of parts (up to eight for each of `cores`) and their sizes are those
/// with which `cores` finish first, if each part runs on the first core that is free.
std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together = 0, uint32_t cores = kUsualCores);

}  // namespace nearwarp::runtime
