// The units of samples: launches, groups of launches that may run together, and runs of consecutive
// thread blocks of long launches; each with features from its traces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Relative error at 95 % confidence of the cycles of launches that are sampled inside. The machine
/// begins with all of its thread blocks at once, which is not its state in the middle of a launch
/// (measured, docs/launches-measured.md).
inline constexpr double kInsideError = 0.03;

/// Features of launches, as costs in warp-instructions that a machine of 70 SMs executes in the
/// same time, if nothing else limits it.
enum SampleFeature : size_t {
  kInstructions,
  kTransactions,
  kSectors,
  kLines,
  kFreshLines,
  kBlocks,
  kChain,   ///< the instructions of one warp, which are executed one after the other
  kBefore,  ///< lines of the launch before, which may have to be written back first
  kLanes,   ///< active lanes; they cost nothing themselves, but divide strata
  kApart,   ///< distances of data (launch_distances.h); they only divide strata, too
  kSampleFeatures,
};
using SampleCosts = std::array<double, kSampleFeatures>;

/// Launches, or thread blocks, that are simulated together or not at all.
struct Unit {
  uint32_t first = 0, end = 0;       ///< its launches [first, end)
  uint32_t begin = 0;                ///< the first launch of its lead-in
  std::optional<BlockRange> blocks;  ///< it is only these blocks of launch `first`
  uint32_t group = 0;                ///< number of the group of units with the same kernels
  double launches = 0;               ///< number of launches that begin in it
  double work = 0;                   ///< warp-instructions of it and its lead-in
  double size = 0;                   ///< expected cost of all that it does, in warp-instructions
  double instructions = 0;           ///< its warp-instructions
  double share = 1;                  ///< its share of its launches' instructions
  SampleCosts features{};
};

struct SampleUnits {
  std::vector<Unit> units;             ///< in the program's order
  uint64_t divided = 0;                ///< number of launches that are divided into units
  std::vector<std::string> undivided;  ///< sentences on long launches that are not divided
};

/// Divides a program into units. Each unit is simulated after a lead-in of `before` launches, or of
/// as many thread blocks as a machine holds. `resident` has by launch the most thread blocks that
/// any of the machines holds; empty: no launch is divided. The first `together` launches are not
/// divided. `distances` are launch_distances(), or empty if they do not matter.
SampleUnits sample_units(const Recording& recording, const std::vector<bool>& cuts, uint32_t before,
                         uint32_t together, const std::vector<uint64_t>& resident,
                         const std::vector<uint64_t>& distances);

}  // namespace nearwarp::runtime
