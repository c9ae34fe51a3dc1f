// The order of thread blocks, as arithmetic.
//
// With one group of SMs there is one queue, in the order of the blocks' numbers. With several,
// `row` blocks in a row belong to a group, the next as many to the next one, and round again:
// group = (block / row) mod groups [CODA, Eq. (1), where row is what a stack's SMs hold].
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp::frontend {

struct BlockQueues {
  uint32_t num_blocks = 0;  ///< of the launch
  uint32_t row = 1;         ///< >= 1
  uint32_t groups = 1;

  /// Blocks in a group's queue.
  NW_HD uint32_t length(uint32_t group) const {
    if (groups == 1) return num_blocks;
    const uint64_t round = uint64_t{row} * groups;
    const uint64_t whole = num_blocks / round, rest = num_blocks % round;
    const uint64_t before = uint64_t{group} * row;
    const uint64_t more = rest <= before ? 0 : rest - before < row ? rest - before : row;
    return static_cast<uint32_t>(whole * row + more);
  }
  /// The block at a place of a group's queue.
  NW_HD uint32_t at(uint32_t group, uint32_t place) const {
    if (groups == 1) return place;
    return (place / row * groups + group) * row + place % row;
  }
  NW_HD uint32_t group_of(uint32_t block) const { return groups == 1 ? 0 : block / row % groups; }
  /// Where it stands in its group's queue.
  NW_HD uint32_t place_of(uint32_t block) const {
    return groups == 1 ? block : block / row / groups * row + block % row;
  }
};

}  // namespace nearwarp::frontend
