// Memory and their kernel's code that a chunk's thread blocks touch, each thing once a thread
// block: what its traces leave in caches, for all who want to know without walking them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

struct ChunkTouches {
  /// A line of device memory.
  struct Touch {
    uint32_t line = 0;     ///< lines from the beginning of device memory
    uint32_t block = 0;    ///< thread block of the launch
    uint32_t after = 0;    ///< memory records from the chunk's beginning to the last use
    uint32_t sectors = 0;  ///< bits
    bool store = false, local = false;
  };
  /// A basic block of the code.
  struct Code {
    uint32_t block = 0, after = 0;
  };
  std::vector<Touch> touches;  ///< a line may be there more than once a thread block
  std::vector<Code> code;
  uint32_t records = 0;
  uint64_t transactions = 0, transacted_sectors = 0;  ///< a line and its sectors at a time
};

/// Do accesses to this space go to device memory?
inline bool is_of_device(ptx::Space space) {
  return space != ptx::Space::kShared && space != ptx::Space::kConst && space != ptx::Space::kParam;
}

/// Touches of all chunks of recordings of one program, each made when it is first asked for. For
/// several threads.
class TouchesOfChunks {
 public:
  /// Lines have 2^line_shift bytes.
  explicit TouchesOfChunks(uint32_t line_shift) : line_shift_(line_shift) {}

  /// The touches of a chunk, an index into Recording::traces, of a launch of this kernel.
  std::shared_ptr<const ChunkTouches> of(const Recording& recording, uint32_t chunk,
                                         uint32_t kernel);

 private:
  /// Touches that are kept, at most: some 20 MB. What is kept goes when there are more.
  static constexpr size_t kMostKept = size_t{1} << 20;

  uint32_t line_shift_;
  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<const ChunkTouches>> known_;
  size_t kept_ = 0;
};

/// The touches of a recording's chunks, shared by all who ask (Recording::studies).
std::shared_ptr<TouchesOfChunks> touches_of(const Recording& recording, uint32_t line_shift);

}  // namespace nearwarp::runtime
