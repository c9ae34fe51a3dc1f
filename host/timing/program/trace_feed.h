// Keeps the traces of the thread blocks that may be dispatched next in memory, and no others.
#pragma once

#include <memory>
#include <vector>

#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"
#include "kernels/run_control.h"

namespace nearwarp::sim {

class TraceFeed {
 public:
  /// `margin`: thread blocks that a window can dispatch at most.
  TraceFeed(const runtime::Recording& recording, const ImageTables& image, uint32_t margin);

  /// For a run that goes on from a checkpoint: of the thread blocks that have been dispatched, only
  /// `on_machine` (numbers over all launches) have not ended.
  void resume(std::vector<uint32_t> on_machine) { on_machine_ = std::move(on_machine); }
  /// Between two windows: let go of the thread blocks that have ended and make those ready that may
  /// be dispatched next. Sets what `run` has to know of the traces.
  void serve(frontend::FrontEndState& front_end, kernels::RunState& run);

 private:
  /// Make the front end's launch the current one.
  void begin_launch(const frontend::FrontEndState& front_end);
  /// Load every chunk with a block in [0, end) that has not been loaded yet.
  void ensure(uint32_t end);
  bool has_ended(uint32_t block) const;
  /// A thread block has ended; its chunk goes when all of the chunk's blocks have.
  void block_done(uint32_t block);

  static constexpr uint32_t kNoLaunch = 0xffffffffu;
  struct Loaded {
    std::shared_ptr<const runtime::TraceChunk> chunk;
    uint32_t left = 0;  ///< blocks that have not ended
  };
  const runtime::Recording& recording_;
  const ImageTables& image_;
  uint32_t margin_ = 0;
  uint32_t launch_ = kNoLaunch;
  std::vector<sm::TraceBlock> table_;
  std::vector<uint32_t> chunk_of_;  ///< by block: index into loaded_
  std::vector<Loaded> loaded_;      ///< chunks of the launch, in order
  uint32_t first_chunk_ = 0;
  uint32_t ready_ = 0;       ///< blocks [0, ready_) have been loaded
  uint32_t dispatched_ = 0;  ///< before a checkpoint: blocks [0, dispatched_), of the first launch
  std::vector<uint32_t> on_machine_;
};

}  // namespace nearwarp::sim
