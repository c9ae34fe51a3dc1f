// The traces of a program in chunks of thread blocks. Equal chunks are stored once; chunks beyond a
// memory budget are compressed and spilled to disk.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nearwarp::runtime {

/// Traces of consecutive thread blocks of one launch (format: device/trace/format.h).
struct TraceChunk {
  uint32_t first_block = 0;  ///< linear thread-block index within the launch
  uint32_t num_blocks = 0;
  uint32_t warps_per_block = 0;
  /// Offset in `words` of each warp's trace, that of warp w of block b at [b * warps_per_block +
  /// w]; the last entry is the end of the last trace.
  std::vector<uint32_t> warp_offset;
  std::vector<uint64_t> words;
};

class SpillFile;

/// An append-only sequence of chunks. Chunks beyond the memory budget are kept compressed in a
/// file, a temporary one or that of a recording, and are loaded again on demand. Reading is
/// thread-safe once writing has ended.
class TraceStore {
 public:
  struct Options {
    uint64_t memory_budget_bytes = uint64_t{64} << 20;
    std::string spill_directory;  ///< empty: the system's temporary directory
  };
  TraceStore();
  explicit TraceStore(Options options);
  ~TraceStore();
  TraceStore(TraceStore&&) noexcept;
  TraceStore& operator=(TraceStore&&) noexcept;

  /// Append a chunk and return its index. Throws nearwarp::Error if the disk is full.
  uint32_t append(TraceChunk chunk);
  uint32_t size() const;
  /// Number of the chunk among the distinct ones, in the order of their first appearance.
  uint32_t identity(uint32_t index) const;
  /// The chunk, loaded if need be. It stays in memory while the pointer is held.
  std::shared_ptr<const TraceChunk> chunk(uint32_t index) const;
  /// Number of thread blocks of the chunk, without loading it.
  uint32_t blocks(uint32_t index) const;
  uint64_t total_words() const;  ///< sum over all chunks, with equal ones

  /// A compressed chunk in a file.
  struct StoredChunk {
    uint64_t offset = 0, bytes = 0;
    uint64_t words = 0;
    uint64_t memory_bytes = 0;
    uint32_t blocks = 0;
  };
  /// A store over a file of compressed chunks, which are loaded on demand. `distinct` has the
  /// chunks by identity, and `sequence` the identity of each element.
  TraceStore(Options options, std::shared_ptr<SpillFile> file,
             const std::vector<StoredChunk>& distinct, std::vector<uint32_t> sequence);
  /// A store with the chunks of all `parts`, one after the other. Nothing can be appended.
  explicit TraceStore(std::vector<TraceStore> parts);
  /// Bytes that a chunk counts against the memory budget.
  static uint64_t memory_bytes(const TraceChunk& chunk);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::runtime
