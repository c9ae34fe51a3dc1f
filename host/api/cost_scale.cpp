// What a program's warp-instructions cost the host.
#include "host/api/cost_scale.h"

#include <algorithm>

#include "host/recording/launch_features.h"

namespace nearwarp {

namespace {

/// A line that a warp asks for costs the host as much as so many warp-instructions (estimated:
/// fused multiply-adds alone go at some 60 million a second, random reads at 1.6 million lines).
constexpr uint64_t kLineCost = 40;

}  // namespace

CostScale::CostScale(const runtime::Recording& recording) {
  // Inside of a launch nothing is known.
  if (recording.launches.size() < 2) return;
  uint64_t instructions = 0, costs = 0;
  for (const runtime::LaunchFeatures& launch : runtime::launch_features(recording)) {
    instructions += launch.warp_instructions;
    costs += launch.warp_instructions + kLineCost * launch.transactions;
    instructions_.push_back(instructions);
    costs_.push_back(costs);
  }
}

uint64_t CostScale::cost(uint64_t warp_instructions) const {
  const auto at = static_cast<size_t>(std::ranges::lower_bound(instructions_, warp_instructions) -
                                      instructions_.begin());
  if (at == instructions_.size())
    return instructions_.empty() ? warp_instructions
                                 : costs_.back() + (warp_instructions - instructions_.back());
  const uint64_t from = at == 0 ? 0 : instructions_[at - 1], before = at == 0 ? 0 : costs_[at - 1];
  const double share = static_cast<double>(warp_instructions - from) /
                       static_cast<double>(std::max<uint64_t>(instructions_[at] - from, 1));
  return before + static_cast<uint64_t>(share * static_cast<double>(costs_[at] - before));
}

}  // namespace nearwarp
