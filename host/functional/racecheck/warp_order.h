// The order among the warps of a block and the lanes of a warp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "host/functional/racecheck/clocks.h"

namespace nearwarp::racecheck {

/// The order before a point of a block, and what has been said and heard there.
struct Knowledge {
  Times seen{};    ///< times of the block's warps
  Clocks foreign;  ///< the same of other blocks
  /// Times for reads alone, whose values were there before something was said without a fence.
  Times seen_reads{};
  Clocks foreign_reads;
  /// The order that a strong write that follows publishes: all before the last fence of the
  /// device's scope, of the cluster's and of the block's.
  Clocks published, published_cluster, published_block;
};

/// A warp, where it is now.
///
/// A warp's time goes on with everything that synchronises it with anything. An access is stamped
/// with the time at which it was made.
class WarpOrder : public Knowledge {
 public:
  static constexpr uint32_t kAll = 0xffffffffu;
  uint32_t time = 1;
  uint32_t lanes = kAll;  ///< that the warp began with

  /// `members` have waited for one another; `exited` lanes are not waited for.
  void meet(uint32_t members, uint32_t exited);
  /// Orders what `members` did before that which any lane does from now on.
  void settle(uint32_t members, uint32_t exited);
  /// Is an access of lane `by` at `then` ordered before what lane `lane` does now?
  bool lane_ordered(uint32_t by, uint32_t then, uint32_t lane) const {
    return by == lane || then <= together_ || (matrix_ != nullptr && (*matrix_)[lane][by] >= then);
  }

 private:
  using Matrix = std::array<std::array<uint32_t, 32>, 32>;
  Matrix& matrix();

  uint32_t together_ = 0;           // up to here, everything is ordered before every lane
  std::unique_ptr<Matrix> matrix_;  // [lane][by]; needed once not all lanes meet
};

}  // namespace nearwarp::racecheck
