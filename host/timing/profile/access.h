// Sectors, lines and bytes that one access of a warp touches.
#pragma once

#include <cstdint>

#include "host/timing/report/profile.h"

namespace nearwarp::profile {

/// Counts of one access to device memory: `bytes` (at least 1) from address[lane] on for each lane
/// of `mask` (not 0), in lines of 2^line_shift bytes. What several lanes touch counts once.
report::AccessCounts count_access(const uint64_t* address, uint32_t mask, uint32_t bytes,
                                  uint32_t line_shift);

}  // namespace nearwarp::profile
