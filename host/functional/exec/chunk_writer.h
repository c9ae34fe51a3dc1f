// Collects the traces of a launch's thread blocks into chunks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "host/functional/exec/executor.h"
#include "host/recording/trace_store.h"

namespace nearwarp::runtime {

/// Takes thread blocks up to a number of thread-instructions, and to the first that is cut.
class ChunkWriter final : public BlockSink {
 public:
  /// `append` takes finished chunks, of `chunk_blocks` thread blocks (0: of some MiB); `blocks` are
  /// expected.
  ChunkWriter(std::function<void(TraceChunk)> append, uint32_t warps_per_block,
              uint32_t chunk_blocks, uint64_t blocks, uint64_t max_thread_instructions);

  void block(std::span<const std::span<const uint64_t>> warps, uint64_t warp_instructions,
             uint64_t thread_instructions, TraceCut cut) override;

  /// The counts of the thread blocks in the chunks.
  const ExecutorResult& counted() const { return counted_; }
  /// How the traces of the last block in them were cut.
  TraceCut cut() const { return cut_; }
  /// Ends the last chunk; returns the number of chunks written.
  uint32_t finish();

 private:
  void begin(uint32_t first_block);
  void flush();

  std::function<void(TraceChunk)> append_;
  uint32_t warps_, chunk_blocks_;
  uint64_t expected_blocks_, max_thread_instructions_;
  ExecutorResult counted_;
  uint32_t written_ = 0;
  TraceCut cut_ = TraceCut::kNone;
  TraceChunk chunk_;
};

}  // namespace nearwarp::runtime
