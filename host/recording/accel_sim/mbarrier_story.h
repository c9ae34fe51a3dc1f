// The values that mbarriers of a cluster's blocks are told in a trace, so that their phases are a
// recording's: how many arrivals they expect, and which arrivals expect how many bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/trace/format.h"
#include "host/functional/compiler/kernel.h"
#include "host/recording/chunk_walk.h"

namespace nearwarp::sass {

/// A thread block of a recording, and the chunk that has it.
struct RecordedBlock {
  std::shared_ptr<const runtime::TraceChunk> chunk;
  uint32_t block = 0;
};

/// Mbarriers have the numbers that a recording gives those of each block; blocks have their ranks.
class MbarrierStory {
 public:
  MbarrierStory(const compiler::Kernel& kernel, const runtime::ChunkWalk& walk);

  /// Read the traces of the blocks of a cluster, by rank.
  void read(const std::vector<RecordedBlock>& cluster);

  /// Offset in a block's shared memory of an mbarrier with a number; and the number of one that is
  /// made at an offset, or kNone. Mbarriers that a box tells in several blocks have one offset.
  uint64_t offset_of(uint32_t rank, uint32_t number) const;
  static constexpr uint32_t kNone = ~0u;
  uint32_t number_at(uint32_t rank, uint64_t offset) const;
  /// Arrivals that make up a phase.
  uint32_t count_of(uint32_t rank, uint32_t number) const;
  /// Bytes that an arrival in a phase expects, if it is the first that is asked for.
  uint64_t take_bytes(uint32_t rank, uint32_t number, uint32_t phase);

  /// Lanes of an instruction by lanes of `mask` that arrive with each of its events: one each, and
  /// the rest with the last.
  static uint32_t lanes_of_event(uint32_t event, uint32_t events, uint32_t mask);

 private:
  struct Phase {
    uint32_t arrivals = 0;
    uint64_t bytes = 0;
    bool taken = false;
  };
  struct Mbarrier {
    std::vector<Phase> phases;
    uint32_t place = kNone;  ///< in `made`
  };
  struct OfBlock {
    std::vector<Mbarrier> mbarriers;
    std::vector<uint64_t> made;  ///< offsets of those that are made, in their order
  };
  struct Name {
    uint32_t rank, number;
  };
  struct Visit;
  Mbarrier& mbarrier(Name name);
  Phase& phase(Name name, uint32_t phase);
  void find_places();

  const compiler::Kernel& kernel_;
  const runtime::ChunkWalk& walk_;
  std::vector<bool> ends_box_;  ///< by basic block: it has the end of a bulk copy
  std::vector<OfBlock> blocks_;
  std::vector<std::vector<Name>> together_;  ///< those that a box tells in several blocks
};

}  // namespace nearwarp::sass
