// Keeps the traces of the thread blocks that may be dispatched next in memory, and no others.
#pragma once

#include <memory>
#include <vector>

#include "device/sm/kernel_image.h"
#include "host/runtime/recording.h"
#include "host/sim/image_builder.h"

namespace nearwarp::sim {

class TraceFeed {
 public:
  TraceFeed(const runtime::Recording& recording, const ImageTables& image);

  /// Make `launch` (an index into ImageTables::launches) the current one.
  void begin_launch(uint32_t launch);
  /// Load every chunk with a block in [0, end) that has not been loaded yet.
  void ensure(uint32_t end);
  /// A thread block has ended; its chunk goes when all of the chunk's blocks have.
  void block_done(uint32_t block);
  /// By thread block of the current launch.
  const sm::TraceBlock* blocks() const { return table_.data(); }

 private:
  struct Loaded {
    std::shared_ptr<const runtime::TraceChunk> chunk;
    uint32_t left = 0;  ///< blocks that have not ended
  };
  const runtime::Recording& recording_;
  const ImageTables& image_;
  std::vector<sm::TraceBlock> table_;
  std::vector<uint32_t> chunk_of_;  ///< by block: index into loaded_
  std::vector<Loaded> loaded_;      ///< chunks of the launch, in order
  uint32_t first_chunk_ = 0;
  uint32_t ready_ = 0;  ///< blocks [0, ready_) have been loaded
};

}  // namespace nearwarp::sim
