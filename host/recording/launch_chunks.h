// Finds the chunks of traces that contain given thread blocks of a launch.
#pragma once

#include <cstdint>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Calls f(chunk, first, behind) in order for each chunk with thread blocks of [begin, end).
/// `chunk` is an index into Recording::traces; the chunk has the launch's thread blocks [first,
/// behind).
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
