// A program divided into parts that are simulated side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Cores that a program is divided for where nobody says how many: a result must not depend on
/// those of the machine that it is made on.
inline constexpr uint32_t kUsualCores = 2;

/// A program divided at cuts into parts that follow each other, each after `before` launches. The
/// part that costs most, what is made and simulated before it included, costs as little as `most`
/// parts allow, or nearly; of such divisions it is the one that simulates least twice. With `most`
/// 0 there are as many parts, up to eight for each of so many cores, and as large ones, as let
/// these cores be done first, each part on the first core that is free, with little done twice. The
/// first `together` launches are not divided.
std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together = 0, uint32_t cores = kUsualCores);

}  // namespace nearwarp::runtime
