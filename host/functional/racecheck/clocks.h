// Vector clocks: for every warp of other thread blocks, the latest time that is known to be ordered
// before a point of one thread block. They are immutable trees that share equal parts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearwarp::racecheck {

inline constexpr uint32_t kMaxWarps = 32;  ///< of a thread block

/// Times of a block's warps; 0: nothing that the warp did is ordered before.
using Times = std::array<uint32_t, kMaxWarps>;

/// Raise each time to that of `from` where that is later.
inline void raise(Times& to, const Times& from) {
  for (uint32_t i = 0; i < kMaxWarps; ++i) to[i] = from[i] > to[i] ? from[i] : to[i];
}

class ClockNode;
/// The times of many blocks; nullptr if there are none.
using Clocks = std::shared_ptr<const ClockNode>;

/// A node of the tree: 16 subtrees, or at the lowest level 16 blocks.
class ClockNode {
 public:
  using Leaf = std::shared_ptr<const Times>;
  static constexpr uint32_t kBits = 4, kFan = 1u << kBits;
  std::array<Clocks, kFan> children;
  std::vector<Leaf> leaves;  ///< kFan entries at the lowest level, otherwise empty
};

/// Operations on the clocks of a launch with a given number of blocks.
class ClockSpace {
 public:
  explicit ClockSpace(uint64_t blocks = 1);
  /// The times of `block`; nullptr if there are none.
  const Times* find(const Clocks& clocks, uint64_t block) const;
  /// The later of both times for every warp. The result is `a` or `b` itself if it is equal to one.
  Clocks join(const Clocks& a, const Clocks& b) const { return join(a, b, levels_); }
  /// A copy of `clocks` in which `block` has `times`, which are no earlier than those that it had.
  Clocks with(const Clocks& clocks, uint64_t block, const Times& times) const {
    return with(clocks, block, times, levels_);
  }

 private:
  Clocks join(const Clocks& a, const Clocks& b, uint32_t level) const;
  Clocks with(const Clocks& clocks, uint64_t block, const Times& times, uint32_t level) const;
  uint32_t levels_ = 1;
};

}  // namespace nearwarp::racecheck
