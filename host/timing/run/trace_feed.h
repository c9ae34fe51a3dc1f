// Keeps the traces of the thread blocks that may be dispatched next in memory, and no others.
#pragma once

#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "device/frontend/block_queues.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/program/image_builder.h"
#include "host/timing/run/trace_table.h"
#include "kernels/run_control.h"

namespace nearwarp::sim {

class TraceFeed {
 public:
  /// `margin`: thread blocks that a window can dispatch at most. `window_cycles`: its length in
  /// core cycles, if launches can end in it and those that wait for them begin; else 0.
  TraceFeed(const runtime::Recording& recording, const ImageTables& image, uint32_t margin,
            uint32_t window_cycles = 0);

  /// For a run that goes on from a checkpoint: of the thread blocks that have been dispatched, only
  /// `on_machine` (numbers over all launches) have not ended.
  void resume(const std::vector<uint32_t>& on_machine) {
    on_machine_.insert(on_machine.begin(), on_machine.end());
  }
  /// Between two windows: let go of the thread blocks that have ended and make those ready that may
  /// be dispatched next.
  void serve(System& system, kernels::RunState& run);

 private:
  struct Chunk {
    uint32_t first_block = 0, num_blocks = 0;
    bool loaded = false;
    uint32_t left = 0;  ///< blocks that have not ended
    std::shared_ptr<const runtime::TraceChunk> words;
  };
  /// A launch that runs or may soon begin.
  struct Launch {
    frontend::BlockQueues queues;
    std::vector<Chunk> chunks;
    std::vector<uint32_t> ready;       ///< by queue: its blocks [0, ready) have been loaded
    std::vector<uint32_t> dispatched;  ///< by queue: those taken before the feed knew the launch
    std::vector<uint32_t> left_out;    ///< by queue: its first ones, which are not simulated
  };

  static Chunk& chunk_of(Launch& l, uint32_t block);
  Launch& known(System& system, uint32_t launch, uint32_t groups, const uint32_t* taken);
  /// Loads the blocks that a window can dispatch of a launch that has not begun.
  void ensure_first(System& system, uint32_t launch, uint32_t groups);
  /// Loads first blocks of launches that wait for one that cannot end before `cycle` of the window.
  void ensure_followers(System& system, uint32_t launch, uint32_t cycle, uint32_t groups);
  /// Core cycles from a launch's beginning to its end, at least.
  uint32_t shortest(System& system, uint32_t launch) const;
  /// Load what is missing of the first `end` blocks of a queue.
  void ensure(uint32_t launch, Launch& l, uint32_t queue, uint32_t end);
  void load(uint32_t launch, Launch& l, uint32_t chunk);
  bool has_ended(uint32_t launch, const Launch& l, uint32_t block) const;
  /// A thread block has ended; its chunk goes when all of the chunk's blocks have.
  void block_done(uint32_t number);

  const runtime::Recording& recording_;
  const ImageTables& image_;
  uint32_t margin_ = 0, window_cycles_ = 0;
  TraceTable table_;
  std::map<uint32_t, Launch> launches_;     ///< by index
  std::map<uint32_t, uint32_t> followers_;  ///< of launches: when in the window they can begin
  std::unordered_set<uint32_t> on_machine_;
};

}  // namespace nearwarp::sim
