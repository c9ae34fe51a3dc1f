// Cuts of a program: places between launches where all launches before have ended when those behind
// begin.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// By launch, and one more for the program's end: is there a cut before it? There is if it and all
/// later launches wait for all earlier ones, which is tested by the launches that each names; some
/// cuts are not found. The program's beginning and end are cuts, and the only ones in a recording
/// of several programs that run together (combine.h).
std::vector<bool> launch_cuts(const Recording& recording);

/// Launches that are reported together, as indices into Recording::launches.
struct LaunchRange {
  uint32_t first = 0, end = 0;
  bool operator==(const LaunchRange&) const = default;
};

/// Thread blocks of a launch, by their numbers.
struct BlockRange {
  uint32_t begin = 0;  ///< the first block that is simulated
  /// The report begins when all blocks before this one have been dispatched; if it is 0, with the
  /// launch.
  uint32_t first = 0;
  /// The report and the simulation end when all blocks before this one have been dispatched; if it
  /// is the number of blocks, with the launch.
  uint32_t end = 0;
  bool operator==(const BlockRange&) const = default;
};

/// The golden ratio modulo 1 as a 32-bit fraction. The first n of its multiples modulo 1 are evenly
/// spread for every n.
inline constexpr uint32_t kGoldenRatio = 0x9e3779b9u;

/// Consecutive launches that are simulated independently of others; indices into
/// Recording::launches.
struct LaunchPart {
  uint32_t begin = 0;  ///< the first launch that is simulated: the beginning of the lead-in
  uint32_t first = 0;  ///< the first launch that is reported
  uint32_t end = 0;    ///< the launch behind the last one
  bool warm = false;   ///< caches begin with the lines that earlier launches leave, by their traces
  /// Separate reports: the first piece begins with `first`, the last one ends with `end`. Empty:
  /// one report.
  std::vector<LaunchRange> pieces = {};
  /// The part is only these blocks of its only reported launch. It has no lead-in of launches if
  /// blocks are left out at the beginning.
  std::optional<BlockRange> blocks = {};
  /// Time until the memory's next refresh when the part begins, in 2^-32 of the refresh interval;
  /// by default it follows from the part's beginning.
  std::optional<uint32_t> refresh = {};
  bool operator==(const LaunchPart&) const = default;
};

/// The part that reports launches [first, end), with a lead-in of at least `before` launches, or of
/// all earlier ones if they are fewer. The lead-in begins at a cut.
LaunchPart part_of(const std::vector<bool>& cuts, uint32_t first, uint32_t end, uint32_t before);

/// Number of warp-instructions that are simulated for a part. If it has only some of a launch's
/// thread blocks, the launch's mean per block is used.
uint64_t instructions_of(const Recording& recording, const LaunchPart& part);

/// The cuts without those between the program's first `together` launches.
std::vector<bool> cuts_after(std::vector<bool> cuts, uint32_t together);

}  // namespace nearwarp::runtime
