// Where a program can be divided: between launches of which none before is in flight with one
// after.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// By launch, and one more for the program's end: do it and all after it wait for all before it?
/// The program's beginning and end are such places. A recording of several programs that run
/// together (combine.h) has no others.
std::vector<bool> launch_cuts(const Recording& recording);

/// Launches of a program that are simulated by themselves; indices into Recording::launches.
struct LaunchPart {
  uint32_t begin = 0;  ///< the first one simulated
  uint32_t first = 0;  ///< the first one that is reported
  uint32_t end = 0;    ///< one beyond the last
  bool warm = false;   ///< caches begin with what launches before `begin` leave, by their traces
  bool operator==(const LaunchPart&) const = default;
};

/// The part that reports launches [first, end), after at least `before` launches (of those that are
/// there), so many more as it takes to begin at a cut.
LaunchPart part_of(const std::vector<bool>& cuts, uint32_t first, uint32_t end, uint32_t before);

/// A program divided at cuts into parts that follow each other, each after `before` launches. Each
/// part's work (warp-instructions, those before it included) is at most a bound, the smallest one
/// that at most `most` parts meet. With `most` 0 there are as many parts, from 2 to 16, as together
/// do at most a quarter more than the program has. The first `together` launches are not divided.
std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together = 0);

/// Cuts, but for those between the program's first `together` launches.
std::vector<bool> cuts_after(std::vector<bool> cuts, uint32_t together);

}  // namespace nearwarp::runtime
