// Walks the traces of a chunk record by record.
#include "host/recording/chunk_walk.h"

#include <fmt/format.h>

#include "host/core/error.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {

ChunkWalk::ChunkWalk(const compiler::Kernel& kernel) : kernel_(kernel) {
  for (const compiler::Block& b : kernel.blocks) {
    Shape shape{b.count, static_cast<uint32_t>(memory_.size()), 0};
    for (uint32_t i = b.first; i < b.first + b.count; ++i)
      if (leaves_record(kernel.instructions[i]))
        memory_.push_back(
            {i, has_mask_word(kernel.instructions[i]), names_pieces(kernel.instructions[i])});
    shape.end = static_cast<uint32_t>(memory_.size());
    shapes_.push_back(shape);
  }
}

void ChunkWalk::fail(const char* what) const {
  throw Error(fmt::format("a trace of kernel {} {}", kernel_.name, what));
}

}  // namespace nearwarp::runtime
