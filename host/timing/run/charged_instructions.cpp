// Instructions of thread blocks as they are recorded, and as a machine counts them.
#include "host/timing/run/charged_instructions.h"

#include "host/recording/chunk_walk.h"

namespace nearwarp::sim {
namespace {

struct Count {
  const sm::ImageBlock* blocks;
  BlockInstructions sums;

  void warp(uint64_t, uint32_t) {}
  void run(uint32_t block, uint32_t count, uint32_t) {
    sums.recorded += count;
    sums.charged += blocks[block].count;
  }
  void record(uint32_t, uint32_t, const uint64_t*) {}
};

}  // namespace

BlockInstructions instructions_of_blocks(const runtime::Recording& recording,
                                         const ImageTables& image, uint32_t launch, uint32_t begin,
                                         uint32_t end) {
  const runtime::LaunchRecord& l = recording.launches[launch];
  const runtime::ChunkWalk walk(*recording.kernels[l.kernel]);
  Count count{image.blocks.data() + image.kernels[l.kernel].first_block, {}};
  uint32_t first = 0;
  for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c) {
    const uint32_t blocks = recording.traces.blocks(c);
    if (first < end && first + blocks > begin)
      walk.walk(*recording.traces.chunk(c), begin, end, count);
    first += blocks;
  }
  return count.sums;
}

}  // namespace nearwarp::sim
