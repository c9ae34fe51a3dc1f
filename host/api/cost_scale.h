// What a program's warp-instructions cost the host, so that progress in them can be told in time.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp {

/// Launches are simulated one after the other, more or less, and cost what they execute and what
/// they ask of the memory.
class CostScale {
 public:
  /// As if all cost the same.
  CostScale() = default;
  /// Reads all traces once.
  explicit CostScale(const runtime::Recording& recording);

  /// The cost of the first `warp_instructions` of the program; never falls.
  uint64_t cost(uint64_t warp_instructions) const;

 private:
  /// At the ends of launches, from the first one on.
  std::vector<uint64_t> instructions_, costs_;
};

}  // namespace nearwarp
