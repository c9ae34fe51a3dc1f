// The queues of thread blocks that groups of SMs take blocks from, computed rather than stored.
//
// With one group of SMs there is one queue, in the order of the blocks' numbers. With several
// groups `row` consecutive blocks go to a group, the next `row` blocks to the next group, and so
// on, round robin: group = (block / row) mod groups [CODA, Eq. (1), where row is the number of
// blocks that a stack's SMs hold].
#pragma once

#include <cstdint>

#include "device/core/bits.h"
#include "device/core/macros.h"

namespace nearwarp::frontend {

struct BlockQueues {
  uint32_t num_blocks = 0;  ///< of the launch
  uint32_t row = 1;         ///< consecutive blocks that go to one group, >= 1
  uint32_t groups = 1;
  /// Groups that the launch may run on, as bits; the others' queues are empty. 0: all.
  uint32_t members = 0;

  /// The number of groups that blocks are dealt to.
  NW_HD uint32_t dealt() const {
    return members == 0 || groups == 1 ? groups : population_count(members);
  }
  /// The number of groups before `group` that blocks are dealt to.
  NW_HD uint32_t rank(uint32_t group) const {
    return members == 0 ? group : population_count(members & ((1u << group) - 1));
  }
  NW_HD bool has(uint32_t group) const { return members == 0 || (members >> group & 1) != 0; }

  /// Blocks in a group's queue.
  NW_HD uint32_t length(uint32_t group) const {
    if (groups == 1) return num_blocks;
    if (!has(group)) return 0;
    const uint64_t round = uint64_t{row} * dealt();
    const uint64_t whole = num_blocks / round, rest = num_blocks % round;
    const uint64_t before = uint64_t{rank(group)} * row;
    const uint64_t more = rest <= before ? 0 : rest - before < row ? rest - before : row;
    return static_cast<uint32_t>(whole * row + more);
  }
  /// The block at position `place` of a group's queue.
  NW_HD uint32_t at(uint32_t group, uint32_t place) const {
    if (groups == 1) return place;
    return (place / row * dealt() + rank(group)) * row + place % row;
  }
  NW_HD uint32_t group_of(uint32_t block) const {
    if (groups == 1) return 0;
    uint32_t group = block / row % dealt();
    if (members == 0) return group;
    uint32_t left = members;
    for (; group != 0; --group) left &= left - 1;
    return count_trailing_zeros(left);
  }
  /// The position of a block in its group's queue.
  NW_HD uint32_t place_of(uint32_t block) const {
    return groups == 1 ? block : block / row / dealt() * row + block % row;
  }
};

}  // namespace nearwarp::frontend
