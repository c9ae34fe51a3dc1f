// Recognises chunks of traces that are the same.
#include "host/recording/chunk_ids.h"

#include <array>
#include <span>

namespace nearwarp::runtime {

Hash128 chunk_key(const TraceChunk& chunk) {
  Hasher hasher;
  const std::array<uint64_t, 5> shape = {chunk.first_block, chunk.num_blocks, chunk.warps_per_block,
                                         chunk.warp_offset.size(), chunk.words.size()};
  hasher.add(std::as_bytes(std::span(shape)));
  hasher.add(std::as_bytes(std::span(chunk.warp_offset)));
  hasher.add(std::as_bytes(std::span(chunk.words)));
  return hasher.result();
}

}  // namespace nearwarp::runtime
