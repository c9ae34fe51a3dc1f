// A program divided into parts that are simulated side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// By launch, what simulating it costs the host beside others, in warp-instructions of a kernel
/// that hardly uses memory; from the traces of one thread block in eight.
std::vector<uint64_t> launch_costs(const Recording& recording);

/// A program divided at cuts into parts that follow each other, each after `before` launches. The
/// part that costs most, what is made and simulated before it included, costs as little as `most`
/// parts allow, or nearly; of such divisions it is the one that simulates least twice. With `most`
/// 0 there are as many of 4, 6, 8, 12 or 16 parts, so that two cores have as much each, as together
/// do at most a twelfth more than the program takes; else two. The first `together`
/// launches are not divided.
std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together = 0);

}  // namespace nearwarp::runtime
