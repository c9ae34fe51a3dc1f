// Traces of a program: chunks of thread blocks, each kept once however often it was recorded,
// bounded in memory, spilled compressed to disk.
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
  /// Word offset of each warp's trace in `words`: warp w of block b at [b * warps_per_block + w];
  /// one more entry ends the last.
  std::vector<uint32_t> warp_offset;
  std::vector<uint64_t> words;
};

class SpillFile;

/// An append-only sequence of chunks. Equal ones are stored once. Chunks beyond the memory budget
/// live compressed in a temporary file (or in the trace cache) and are loaded again on demand.
/// Reading is thread-safe once writing has ended.
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
  /// Which of the distinct chunks it is, numbered in the order of their first appearance.
  uint32_t identity(uint32_t index) const;
  /// The chunk, loaded if need be; it stays in memory while the pointer is held.
  std::shared_ptr<const TraceChunk> chunk(uint32_t index) const;
  /// Thread blocks of the chunk; it need not be loaded for that.
  uint32_t blocks(uint32_t index) const;
  uint64_t total_words() const;  ///< of all chunks, equal ones too

  /// A chunk that lies compressed in a file.
  struct StoredChunk {
    uint64_t offset = 0, bytes = 0;
    uint64_t words = 0;
    uint64_t memory_bytes = 0;
    uint32_t blocks = 0;
  };
  /// A store over a file of compressed chunks, which are loaded on demand. `distinct`: by identity;
  /// `sequence`: the identity of every chunk.
  TraceStore(Options options, std::shared_ptr<SpillFile> file,
             const std::vector<StoredChunk>& distinct, std::vector<uint32_t> sequence);
  /// The chunks of all of `parts`, one after the other; nothing can be appended.
  explicit TraceStore(std::vector<TraceStore> parts);
  /// What a chunk counts against the memory budget.
  static uint64_t memory_bytes(const TraceChunk& chunk);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nearwarp::runtime
