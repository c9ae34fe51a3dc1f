// Samples of a launch's warps: what they do one thing after the other, as their traces tell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/config/machine.h"
#include "host/recording/recording.h"

namespace nearwarp {

/// A warp's instructions in order, in equal parts, and what each part asks of the memory.
class WarpCurve {
 public:
  /// Transactions (lines, those of lanes in a row once) and accesses.
  struct Asked {
    double lines = 0, accesses = 0;
  };

  void run(uint32_t instructions);
  /// The last instruction is an access to so many lines.
  void access(uint32_t lines);

  uint64_t instructions() const { return instructions_; }
  /// Requests of the instructions from..to, those of a part spread evenly.
  Asked between(uint64_t from, uint64_t to) const;

 private:
  static constexpr size_t kParts = 64;
  struct Part {
    uint32_t lines = 0, accesses = 0;
  };
  std::array<Part, kParts> parts_{};
  uint64_t width_ = 1;  ///< width of a part, in instructions
  uint64_t instructions_ = 0;
};

/// All warps of some of the launch's thread blocks, which are spread evenly over all of them.
std::vector<WarpCurve> sample_warps(const runtime::Recording& recording, size_t launch);

/// Bytes that leave an SM's L1 for each of its transactions, of what loads do not find and of
/// stores: with the thread blocks that it begins with, `resident` or fewer, whose warps take turns.
double bytes_beyond_l1(const runtime::Recording& recording, size_t launch,
                       const config::MachineConfig& machine, uint64_t resident);

}  // namespace nearwarp
