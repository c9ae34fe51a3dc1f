// Instructions of thread blocks as they are recorded, and as a machine counts them that leaves some
// out (sm.charge_moves).
#pragma once

#include <cstdint>

#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

struct BlockInstructions {
  uint64_t recorded = 0, charged = 0;  ///< of warps
};

/// The instructions of thread blocks [begin, end) of a launch, by a walk over their traces.
BlockInstructions instructions_of_blocks(const runtime::Recording& recording,
                                         const ImageTables& image, uint32_t launch, uint32_t begin,
                                         uint32_t end);

}  // namespace nearwarp::sim
