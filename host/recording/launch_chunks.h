// The chunks of a launch's traces that hold some of its thread blocks.
#pragma once

#include <cstdint>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// f(chunk, its first thread block, those behind its last) for the chunks (indices into
/// Recording::traces) that have any of the launch's thread blocks [begin, end), in order.
template <class F>
void each_chunk(const Recording& recording, uint32_t launch, uint32_t begin, uint32_t end, F&& f) {
  const LaunchRecord& l = recording.launches[launch];
  uint32_t first = 0;
  for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks && first < end; ++c) {
    const uint32_t behind = first + recording.traces.blocks(c);
    if (behind > begin) f(c, first, behind);
    first = behind;
  }
}

}  // namespace nearwarp::runtime
