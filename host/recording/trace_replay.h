// Walks the traces of a recording: for reports and tests, and to check that they are well formed.
#pragma once

#include <cstdint>
#include <functional>

#include "host/recording/chunk_walk.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// One execution of a basic block by a warp.
struct BlockRun {
  uint32_t block = 0;
  uint32_t mask = 0;
};
/// One memory instruction of a run; `address` holds the lanes of `mask`.
struct MemoryAccess {
  uint32_t instruction = 0;  ///< index into Kernel::instructions
  uint32_t mask = 0;
  const uint64_t* address = nullptr;
};

struct TraceVisitor {
  /// Called at each warp's start: thread block (linear) and warp.
  std::function<void(uint64_t thread_block, uint32_t warp)> warp;
  std::function<void(const BlockRun&)> run;
  std::function<void(const MemoryAccess&)> access;
};

/// Counts found by a replay.
struct TraceCounts {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  uint64_t blocks = 0;
  uint64_t accesses = 0;
};

/// Do records name the pieces of a copy, or events at mbarriers, as though each were a lane's? A
/// mask word says how many there are.
bool names_pieces(const compiler::Instruction& in);
/// Is there a mask word before the record?
bool has_mask_word(const compiler::Instruction& in);
/// True for the instructions that leave a memory record: all that access memory, but for loads of
/// parameters from a fixed place.
bool leaves_record(const compiler::Instruction& in);

/// Walks chunks of launches of one kernel, one after the other; both outlive it.
class ChunkReplay {
 public:
  ChunkReplay(const compiler::Kernel& kernel, const TraceVisitor& visitor);
  /// Throws nearwarp::Error if the traces are malformed.
  void walk(const TraceChunk& chunk);
  /// Counts of all chunks walked so far.
  const TraceCounts& counts() const { return counts_; }

 private:
  ChunkWalk walk_;
  const TraceVisitor& visitor_;
  TraceCounts counts_;
};

/// Replay the traces of one launch. Throws nearwarp::Error if they are malformed.
TraceCounts replay(const Recording& recording, uint32_t launch, const TraceVisitor& visitor = {});

/// Replay everything and compare with the recording's own counts; throws nearwarp::Error if they
/// differ.
TraceCounts validate(const Recording& recording);

}  // namespace nearwarp::runtime
