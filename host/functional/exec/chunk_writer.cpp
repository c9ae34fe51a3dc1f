// Collects the traces of a launch's thread blocks into chunks.
#include "host/functional/exec/chunk_writer.h"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace nearwarp::runtime {

namespace {

constexpr uint64_t kChunkWords = (uint64_t{2} << 20) / sizeof(uint64_t);
constexpr uint64_t kReservedWords = (uint64_t{256} << 10) / sizeof(uint64_t);  // least to reserve

/// Allocates the pages of memory that is about to be written, large ones where they fit. A page
/// fault for each would take as long as the execution of the instructions that the page records.
/// These are hints, and kernels before 5.14 know only the first.
void take_pages(void* p, uint64_t bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(p) + kPage - 1) / kPage * kPage;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(p) + bytes) / kPage * kPage;
  if (last <= first) return;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE);
#endif
}

}  // namespace

ChunkWriter::ChunkWriter(std::function<void(TraceChunk)> append, uint32_t warps_per_block,
                         uint32_t chunk_blocks, uint64_t blocks, uint64_t max_thread_instructions)
    : append_(std::move(append)),
      warps_(warps_per_block),
      chunk_blocks_(chunk_blocks),
      expected_blocks_(blocks),
      max_thread_instructions_(max_thread_instructions) {
  begin(0);
}

void ChunkWriter::block(std::span<const std::span<const uint64_t>> warps,
                        uint64_t warp_instructions, uint64_t thread_instructions, TraceCut cut) {
  if (cut_ != TraceCut::kNone || counted_.thread_instructions >= max_thread_instructions_) return;
  cut_ = cut;
  ++counted_.blocks;
  counted_.warp_instructions += warp_instructions;
  counted_.thread_instructions += thread_instructions;
  // After the first block, memory for all blocks is reserved as if they were alike.
  if (chunk_.num_blocks == 1) {
    const uint64_t first = chunk_.words.size();
    const uint64_t others = expected_blocks_ - chunk_.first_block - 1;
    const uint64_t words = first + std::min(first * others, kChunkWords + first);
    if (words >= kReservedWords) {
      chunk_.words.reserve(words);
      take_pages(chunk_.words.data(), words * sizeof(uint64_t));
    }
  }
  for (const auto& trace : warps) {
    chunk_.words.insert(chunk_.words.end(), trace.begin(), trace.end());
    chunk_.warp_offset.push_back(static_cast<uint32_t>(chunk_.words.size()));
  }
  ++chunk_.num_blocks;
  if (chunk_blocks_ != 0 ? chunk_.num_blocks >= chunk_blocks_ : chunk_.words.size() >= kChunkWords)
    flush();
}

uint32_t ChunkWriter::finish() {
  flush();
  return written_;
}

void ChunkWriter::begin(uint32_t first_block) {
  chunk_ = TraceChunk{};
  chunk_.first_block = first_block;
  chunk_.warps_per_block = warps_;
  chunk_.warp_offset.push_back(0);
}

void ChunkWriter::flush() {
  if (chunk_.num_blocks == 0) return;
  const uint32_t next = chunk_.first_block + chunk_.num_blocks;
  if (chunk_.words.capacity() > chunk_.words.size() * 5 / 4) chunk_.words.shrink_to_fit();
  append_(std::move(chunk_));
  ++written_;
  begin(next);
}

}  // namespace nearwarp::runtime
