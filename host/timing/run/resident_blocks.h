// Thread blocks that machines have at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/timing/run/replay.h"

namespace nearwarp::sim {

/// By launch of their recording, the most thread blocks of it that any of these jobs' machines can
/// have at a time. Jobs that cannot be simulated do not count.
std::vector<uint64_t> resident_blocks(std::span<const ReplayJob> jobs);

}  // namespace nearwarp::sim
