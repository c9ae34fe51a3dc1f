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

/// Eq. (2), in bytes: what a stack gets in a row of an object of which each thread block uses
/// `block_bytes` (B). Rounded up to whole pages, as the text says. The equation bounds a chunk by
/// one page, since any number of pages can be put on a stack; taken literally, larger chunks of
/// blocks would not lie where Eq. (1) has their blocks. `page_bound` takes it literally.
constexpr uint64_t chunk_bytes(uint64_t block_bytes, uint64_t blocks_per_stack, uint64_t page,
                               bool page_bound) {
  const uint64_t chunk = std::max<uint64_t>(1, block_bytes * blocks_per_stack);
  return page_bound ? page : (chunk + page - 1) / page * page;
}

/// Eq. (3): the stack of the byte at `offset` of an object.
constexpr uint32_t stack_of(uint64_t offset, uint64_t chunk, uint32_t stacks) {
  return static_cast<uint32_t>(offset / chunk % stacks);
}

}  // namespace nearwarp::coda
