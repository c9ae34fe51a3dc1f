// Units that samples of programs are made of: launches, those that may run together, and of long
// launches thread blocks in a row, each with what it does as its traces tell.
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

/// How far cycles inside of launches that are sampled there are off at 95 % confidence, relative,
/// because the machine begins with all of its thread blocks at once, as it is long no more in the
/// middle of a launch (measured, docs/launches.md).
inline constexpr double kInsideError = 0.03;

/// Costs of launches, in warp-instructions as a machine of 70 SMs does them when it is busy with
/// them.
enum SampleFeature : size_t {
  kInstructions,
  kTransactions,
  kSectors,
  kLines,
  kFreshLines,
  kBlocks,
  kChain,   ///< of a warp's instructions, one after the other
  kBefore,  ///< lines of the launch before, which may have to be written back first
  kLanes,   ///< how many take part is no work of its own, but divides strata,
  kApart,   ///< nor is how far data is away (launch_distances.h), where that is known
  kSampleFeatures,
};
using SampleCosts = std::array<double, kSampleFeatures>;

/// Launches, or thread blocks, that are simulated together or not at all.
struct Unit {
  uint32_t first = 0, end = 0;       ///< launches
  uint32_t begin = 0;                ///< the first launch that is simulated before it
  std::optional<BlockRange> blocks;  ///< only these of launch `first`
  uint32_t group = 0;                ///< of units that do the same kind of thing
  double launches = 0;               ///< that begin with it
  double work = 0;                   ///< warp-instructions of its part, those before it included
  double size = 0;                   ///< the sum of what it takes
  double instructions = 0;           ///< warp-instructions
  double share = 1;                  ///< of its launches' instructions
  SampleCosts features{};
};

struct SampleUnits {
  std::vector<Unit> units;             ///< in the program's order
  uint64_t divided = 0;                ///< launches of whose thread blocks there are several units
  std::vector<std::string> undivided;  ///< long ones that are not, and why
};

/// `resident`: by launch, the most thread blocks that any of the machines has at a time; empty: no
/// launch is divided. Each unit is simulated after `before` launches, or after as many thread
/// blocks as a machine has at a time. Of the first `together` launches none is divided.
/// `distances`: by launch (launch_distances.h), or empty where they make no difference.
SampleUnits sample_units(const Recording& recording, const std::vector<bool>& cuts, uint32_t before,
                         uint32_t together, const std::vector<uint64_t>& resident,
                         const std::vector<uint64_t>& distances);

}  // namespace nearwarp::runtime
