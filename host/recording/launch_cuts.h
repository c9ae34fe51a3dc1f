// Where a program can be divided: between launches of which none before is in flight with one
// after.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// By launch, and one more for the program's end: do it and all after it wait for all before it, as
/// far as the launches that each names show one by one? Some are not found. The program's beginning
/// and end are such places. A recording of several programs that run together (combine.h) has no
/// others.
std::vector<bool> launch_cuts(const Recording& recording);

/// Launches that are reported as one; indices into Recording::launches.
struct LaunchRange {
  uint32_t first = 0, end = 0;
  bool operator==(const LaunchRange&) const = default;
};

/// Thread blocks of a launch, by their numbers.
struct BlockRange {
  uint32_t begin = 0;  ///< the first one simulated; those before it are left out
  /// The report begins when thread blocks before this one have been dispatched, or with the launch
  /// if it is 0.
  uint32_t first = 0;
  /// It ends when those before this one have been dispatched, or with the launch if it is all of
  /// them; nothing is simulated beyond that.
  uint32_t end = 0;
  bool operator==(const BlockRange&) const = default;
};

/// Multiples of the golden ratio modulo 1, in 32 bits, are evenly spread, however many are taken.
inline constexpr uint32_t kGoldenRatio = 0x9e3779b9u;

/// Launches of a program that are simulated by themselves; indices into Recording::launches.
struct LaunchPart {
  uint32_t begin = 0;  ///< the first one simulated
  uint32_t first = 0;  ///< the first one that is reported
  uint32_t end = 0;    ///< one beyond the last
  bool warm = false;   ///< caches begin with what was before leaves in them, by its traces
  /// Reported apart: the first piece begins with `first`, the last one ends with `end`. Empty: one.
  std::vector<LaunchRange> pieces = {};
  /// Thread blocks of the only launch reported. If some are left out, none before it is simulated.
  std::optional<BlockRange> blocks = {};
  /// How far the next refresh of memory is away when it begins, in 2^-32 of the interval between
  /// two; nothing: as far as follows from where it begins.
  std::optional<uint32_t> refresh = {};
  bool operator==(const LaunchPart&) const = default;
};

/// The part that reports launches [first, end), after at least `before` launches (of those that are
/// there), so many more as it takes to begin at a cut.
LaunchPart part_of(const std::vector<bool>& cuts, uint32_t first, uint32_t end, uint32_t before);

/// Warp-instructions that are simulated for a part; of some of a launch's thread blocks as many as
/// these have in the mean.
uint64_t instructions_of(const Recording& recording, const LaunchPart& part);

/// Cuts, but for those between the program's first `together` launches.
std::vector<bool> cuts_after(std::vector<bool> cuts, uint32_t together);

}  // namespace nearwarp::runtime
