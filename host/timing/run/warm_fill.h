// Fills a system's caches with what launches before it used.
#pragma once

#include "host/recording/recording.h"
#include "host/timing/run/warm.h"
#include "host/timing/run/warm_uses.h"

namespace nearwarp::sim {

/// TLBs, instruction caches, the L2 and rows of memory, each with what was used last as the most
/// recent.
void fill_caches(const runtime::Recording& recording, const Before& before, const Uses& uses,
                 System& system);

}  // namespace nearwarp::sim
