// The equations of H. Kim et al., "CODA: Enabling Co-location of Computation and Data for Near-Data
// Processing", arXiv:1710.09517, 2017, section 4.3.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nearwarp::coda {

/// Eq. (1): the stack that a thread block belongs to.
constexpr uint32_t affinity(uint64_t block, uint64_t blocks_per_stack, uint32_t stacks) {
  return static_cast<uint32_t>(block / blocks_per_stack % stacks);
}

/// How Eq. (2) is read. The equation bounds a chunk by one page, "since an arbitrary number of
/// pages can be allocated in a single memory stack"; and "when the chunk size is not a multiple of
/// physical page size, we round up to the next multiple of pages. The resulting misaligned pages
/// will be shared by SMs from two consecutive memory stacks".
enum class ChunkRule : uint8_t {
  /// A chunk is what the blocks of a stack use, to the byte; a page belongs to the chunk that its
  /// first byte is
  /// in, so that those at the ends are shared by two stacks. Objects lie where their blocks run.
  kBlocks,
  /// Each chunk rounded up to whole pages: chunks drift away from their blocks.
  kRounded,
  /// A chunk is at most a page, as the equation says: consecutive pages on consecutive stacks.
  kPage,
};

/// Eq. (2), in bytes: what a stack gets in a row of an object of which each thread block uses
/// `block_bytes` (B); at least a page.
constexpr uint64_t chunk_bytes(uint64_t block_bytes, uint64_t blocks_per_stack, uint64_t page,
                               ChunkRule rule) {
  const uint64_t chunk = std::max(page, block_bytes * blocks_per_stack);
  if (rule == ChunkRule::kPage) return page;
  return rule == ChunkRule::kBlocks ? chunk : (chunk + page - 1) / page * page;
}

/// Eq. (3): the stack of the byte at `offset` of an object.
constexpr uint32_t stack_of(uint64_t offset, uint64_t chunk, uint32_t stacks) {
  return static_cast<uint32_t>(offset / chunk % stacks);
}

}  // namespace nearwarp::coda
