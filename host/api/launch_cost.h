// What a launch costs the host that simulates it, and how that is spread over its instructions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/api/launch_sample.h"
#include "host/config/machine.h"
#include "host/recording/launch_features.h"

namespace nearwarp {

/// A launch, with what its traces tell.
struct LaunchWork {
  const runtime::LaunchFeatures& features;
  const std::vector<WarpCurve>& warps;  ///< some of its warps; none: nothing is known of them
  double bytes_beyond_l1 = 0;           ///< of a transaction
  uint64_t resident_blocks = 0;         ///< that the machine has at a time, at most
};

/// In units of its own: only the ratio to other launches on the same machine means something.
struct LaunchCost {
  static constexpr size_t kParts = 32;

  double whole = 0;
  /// Of all, after each of so many equal parts of its instructions have been executed; rises to 1.
  std::array<float, kParts> spread{};

  /// Of its first instructions, this share of them.
  double of_first(double share) const;
};

/// By the cycles that it takes, and the SMs that have something to do meanwhile.
LaunchCost launch_cost(const LaunchWork& work, const config::MachineConfig& machine);

}  // namespace nearwarp
