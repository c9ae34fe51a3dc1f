// The cost of a launch for the host that simulates it, and its spread over the instructions.
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
  const std::vector<WarpCurve>& warps;  ///< some of its warps; empty: nothing is known of them
  double bytes_beyond_l1 = 0;           ///< bytes of a transaction
  uint64_t resident_blocks = 0;         ///< thread blocks that the machine has at a time, at most
};

/// In cycles of busy SMs: only the ratio to other launches on the same machine means something.
struct LaunchCost {
  static constexpr size_t kParts = 32;

  double whole = 0;
  /// The share of it after each of so many equal parts of the instructions; rises to 1.
  std::array<float, kParts> spread{};

  /// The cost of this share of its instructions, the first ones.
  double of_first(double share) const;
};

/// The cost by the cycles that a launch takes, and the SMs that have something to do meanwhile; of
/// one without traces, by the issue of its instructions alone.
LaunchCost cost_in_sm_cycles(const LaunchWork& work, const config::MachineConfig& machine);

}  // namespace nearwarp
