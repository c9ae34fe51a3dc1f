// Counts the instructions of thread blocks, as they were recorded and as a machine charges them.
#include "host/timing/run/charged_instructions.h"

#include "host/recording/chunk_walk.h"
#include "host/recording/launch_chunks.h"

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
  runtime::each_chunk(recording, launch, begin, end, [&](uint32_t chunk, uint32_t, uint32_t) {
    walk.walk(*recording.traces.chunk(chunk), begin, end, count);
  });
  return count.sums;
}

}  // namespace nearwarp::sim
