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
  /// `margin`: the most thread blocks that a window can dispatch. `window_cycles`: the length of a
  /// window in core cycles if launches can end in it and launches that wait for them begin; else 0.
  TraceFeed(const runtime::Recording& recording, const ImageTables& image, uint32_t margin,
            uint32_t window_cycles = 0);

  /// Tell a feed of a run that goes on from a checkpoint which of the dispatched thread blocks have
  /// not ended: `on_machine`, numbers over all launches.
  void resume(const std::vector<uint32_t>& on_machine) {
    on_machine_.insert(on_machine.begin(), on_machine.end());
  }
  /// Release the traces of thread blocks that have ended, and load those of blocks that may be
  /// dispatched in the next window. To be called between two windows.
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
    std::vector<uint32_t> dispatched;  ///< by queue: blocks taken before the feed knew the launch
    std::vector<uint32_t> left_out;    ///< by queue: its first blocks, which are not simulated
  };

  static Chunk& chunk_of(Launch& l, uint32_t block);
  Launch& known(System& system, uint32_t launch, uint32_t groups, const uint32_t* taken);
  /// Load the blocks that a window can dispatch of a launch that has not begun.
  void ensure_first(System& system, uint32_t launch, uint32_t groups);
  /// Load the first blocks of launches that wait for `launch`, which cannot end before `cycle` of
  /// the window.
  void ensure_followers(System& system, uint32_t launch, uint32_t cycle, uint32_t groups);
  /// The least number of core cycles from a launch's beginning to its end.
  uint32_t shortest(System& system, uint32_t launch) const;
  /// Load those of the first `end` blocks of a queue that are not loaded yet.
  void ensure(uint32_t launch, Launch& l, uint32_t queue, uint32_t end);
  void load(uint32_t launch, Launch& l, uint32_t chunk);
  bool has_ended(uint32_t launch, const Launch& l, uint32_t block) const;
  /// Note that a thread block has ended. Its chunk is released when all blocks of the chunk have.
  void block_done(uint32_t number);

  const runtime::Recording& recording_;
  const ImageTables& image_;
  uint32_t margin_ = 0, window_cycles_ = 0;
  TraceTable table_;
  std::map<uint32_t, Launch> launches_;     ///< by index of the launch
  std::map<uint32_t, uint32_t> followers_;  ///< by launch: cycle of the window when it can begin
  std::unordered_set<uint32_t> on_machine_;
};

}  // namespace nearwarp::sim
