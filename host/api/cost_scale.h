// The host's cost of a program's warp-instructions, so that progress in them can be told in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/api/launch_cost.h"
#include "host/config/machine.h"
#include "host/recording/recording.h"

namespace nearwarp {

/// Launches are simulated one after the other, more or less, and cost what cost_in_sm_cycles()
/// says.
class CostScale {
 public:
  /// As if all cost the same.
  CostScale() = default;
  /// Reads all traces once, and some warps' of each launch again.
  CostScale(const runtime::Recording& recording, const config::MachineConfig& machine);

  /// The cost of the first `warp_instructions` of the program; never falls.
  double cost(uint64_t warp_instructions) const;

  /// Kernels that each() tells apart.
  size_t kernels() const { return launch_of_kernel_.size(); }
  /// The mean cost of a kernel's launches.
  double launch_of_kernel(size_t kernel) const { return launch_of_kernel_[kernel]; }
  /// The launch that has the warp-instruction after the first `warp_instructions`; beyond all, the
  /// last.
  size_t launch_of(uint64_t warp_instructions) const;
  /// f(kernel, cost) for each launch that has some of these warp-instructions, with the cost of
  /// those.
  template <class F>
  void each(uint64_t from, uint64_t to, F&& f) const {
    if (ends_.empty()) {
      f(size_t{0}, cost(to) - cost(from));
      return;
    }
    for (size_t i = launch_of(from); from < to; ++i) {
      const uint64_t end =
          i + 1 == ends_.size() || ends_[i].instructions > to ? to : ends_[i].instructions;
      f(ends_[i].kernel, cost(end) - cost(from));
      from = end;
    }
  }

 private:
  /// The end of a launch, with sums over it and all before it.
  struct End {
    uint64_t instructions = 0;
    double cost = 0;
    size_t kernel = 0;
    LaunchCost launch;
  };

  std::vector<End> ends_;
  std::vector<double> launch_of_kernel_ = {0};
};

}  // namespace nearwarp
