// What a program's warp-instructions cost the host.
#include "host/api/cost_scale.h"

#include <algorithm>

#include "host/recording/launch_features.h"

namespace nearwarp {

namespace {

// What costs the host as much as so many warp-instructions (estimated, from processor time of
// kmeans and bfs-rmat, size medium, on six machines): a line that a warp asks for, on machines
// where it crosses a network of several hops, and where it does not; and one that was not used of
// late.
constexpr double kHopsLineCost = 30, kLineCost = 7, kFreshLineCost = 15;

bool has_hops(const config::MachineConfig& machine) {
  const std::string& topology = machine.interconnect.topology;
  return topology == "mesh" || topology == "butterfly";
}

}  // namespace

CostScale::CostScale(const runtime::Recording& recording, const config::MachineConfig& machine) {
  // Inside of a launch nothing is known.
  if (recording.launches.size() < 2) return;
  const double line = has_hops(machine) ? kHopsLineCost : kLineCost;
  End end;
  for (size_t i = 0; const runtime::LaunchFeatures& f : runtime::launch_features(recording)) {
    end.instructions += f.warp_instructions;
    end.cost += static_cast<double>(f.warp_instructions) +
                line * static_cast<double>(f.transactions) +
                kFreshLineCost * static_cast<double>(f.fresh_lines);
    end.kernel = recording.launches[i++].kernel;
    ends_.push_back(end);
  }
  kernels_ = recording.kernels.size();
}

size_t CostScale::launch_of(uint64_t warp_instructions) const {
  const auto at = std::ranges::upper_bound(ends_, warp_instructions, {}, &End::instructions);
  return std::min(static_cast<size_t>(at - ends_.begin()), ends_.size() - 1);
}

double CostScale::cost(uint64_t warp_instructions) const {
  if (ends_.empty()) return static_cast<double>(warp_instructions);
  const size_t launch = launch_of(warp_instructions);
  const End before = launch == 0 ? End{} : ends_[launch - 1];
  const double instructions =
      static_cast<double>(std::max<uint64_t>(ends_[launch].instructions - before.instructions, 1));
  return before.cost + static_cast<double>(warp_instructions - before.instructions) / instructions *
                           (ends_[launch].cost - before.cost);
}

}  // namespace nearwarp
