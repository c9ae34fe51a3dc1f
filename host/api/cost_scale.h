// What a program's warp-instructions cost the host, so that progress in them can be told in time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/config/machine.h"
#include "host/recording/recording.h"

namespace nearwarp {

/// Launches are simulated one after the other, more or less, and cost what they execute and what
/// they ask of the memory.
class CostScale {
 public:
  /// As if all cost the same.
  CostScale() = default;
  /// Reads all traces once.
  CostScale(const runtime::Recording& recording, const config::MachineConfig& machine);

  /// The cost of the first `warp_instructions` of the program; never falls.
  double cost(uint64_t warp_instructions) const;

  /// Kernels that each() tells apart.
  size_t kernels() const { return kernels_; }
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
  /// Of a launch, with all before it.
  struct End {
    uint64_t instructions = 0;
    double cost = 0;
    size_t kernel = 0;
  };
  /// The launch that has the warp-instruction after the first `warp_instructions`; beyond all, the
  /// last.
  size_t launch_of(uint64_t warp_instructions) const;

  std::vector<End> ends_;
  size_t kernels_ = 1;
};

}  // namespace nearwarp
