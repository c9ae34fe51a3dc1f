// The near-bank units that an object's pages lie behind, where stacks are cores with units (MPU).
// Each warp of a core has its registers beside one unit, and accesses to lines behind this unit
// stay there.
//
// This goes beyond CODA, and the MPU paper does not say: how a core's lines are dealt to its units
// is chosen for each object from the traces of the first kernel that touches it, as CODA's
// profiler-assisted variant chooses B.
#pragma once

#include <cstdint>
#include <vector>

#include "host/mechanisms/coda/objects.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

/// Facts about the machine that the study needs.
struct UnitRules {
  uint32_t units = 4;        ///< near-bank units of a core, a power of two
  uint32_t default_run = 1;  ///< lines in a row that the machine puts behind a unit
  uint32_t line_bytes = 128, page_bytes = 4096;
};

/// How the pages of an object are dealt to units.
struct ObjectUnits {
  /// Lines in a row behind one unit, a power of two. If a run has as many lines as a page, each
  /// page lies behind the unit that `of_page` says.
  uint32_t run_lines = 1;
  /// Accesses of whole warps to consecutive bytes, and how many of them are behind their warp's
  /// unit.
  uint64_t accesses = 0, near = 0;
  /// The unit of each page, from the page on in which the object begins.
  std::vector<uint8_t> of_page;
};

/// Choose the units of each allocation; those that are not `localised` keep the machine's. The
/// traces are read once for the same arguments (Recording::studies).
std::vector<ObjectUnits> study_units(const runtime::Recording& recording,
                                     const std::vector<ObjectUse>& uses,
                                     const std::vector<bool>& localised, const UnitRules& rules);

}  // namespace nearwarp::coda
