// Where a policy has put the program's memory objects, for people.
#pragma once

#include <string>

#include "host/timing/report/result.h"

namespace nearwarp::report {

/// A table of the objects; empty if the policy places none.
std::string format_placement(const RunResult& run, size_t width = 80);

/// Are some of them put behind near-bank units?
bool places_units(const RunResult& run);

/// What its columns are, and those of near-bank units.
inline constexpr char kPlacementLegend[] =
    "Memory objects: pages spread over all stacks (fgp) or in one each (cgp); B, bytes from a "
    "thread block's part to the next one's (~: in the mean; code: by the kernel's code, else by "
    "traces; -: blocks do not move through it); chunk, consecutive bytes in a stack; local: share "
    "of the first kernel's accesses that are local if pages stay in stacks.";
inline constexpr char kUnitsLegend[] =
    "unit, consecutive bytes behind a near-bank unit; near: share of whole warps' accesses that "
    "are then behind the unit of the warp.";

}  // namespace nearwarp::report
