// The lines of memory and of code that the thread blocks of a chunk touch, once for each thread
// block. They tell the contents of caches after a chunk, without a walk over its traces.
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
    uint32_t line = 0;     ///< its number from the beginning of device memory
    uint32_t block = 0;    ///< number of the thread block in the launch
    uint32_t after = 0;    ///< number of memory records in the chunk before the last use
    uint32_t sectors = 0;  ///< bits
    bool store = false, local = false;
  };
  /// A basic block of the code.
  struct Code {
    uint32_t block = 0, after = 0;
  };
  std::vector<Touch> touches;  ///< may have a line more than once for a thread block
  std::vector<Code> code;
  uint32_t records = 0;
  uint64_t transactions = 0, transacted_sectors = 0;  ///< lines and sectors of all accesses
};

/// Do accesses to this space go to device memory?
inline bool is_of_device(ptx::Space space) {
  return space != ptx::Space::kShared && space != ptx::Space::kConst && space != ptx::Space::kParam;
}

/// Touches of the chunks of a program's recordings, computed when they are first needed.
/// Thread-safe.
class TouchesOfChunks {
 public:
  /// Lines have 2^line_shift bytes.
  explicit TouchesOfChunks(uint32_t line_shift) : line_shift_(line_shift) {}

  /// The touches of a chunk, an index into Recording::traces, of a launch of this kernel.
  std::shared_ptr<const ChunkTouches> of(const Recording& recording, uint32_t chunk,
                                         uint32_t kernel);

 private:
  /// The most touches that are kept, some 20 MB. When there are more, all are dropped.
  static constexpr size_t kMostKept = size_t{1} << 20;

  uint32_t line_shift_;
  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, std::shared_ptr<const ChunkTouches>> known_;
  size_t kept_ = 0;
};

/// The touches of a recording's chunks, shared by all callers (by Recording::studies).
std::shared_ptr<TouchesOfChunks> touches_of(const Recording& recording, uint32_t line_shift);

}  // namespace nearwarp::runtime
