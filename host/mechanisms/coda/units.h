// Which near-bank unit an object's pages lie behind, where stacks are cores with units (MPU's): a
// core's warps have their registers beside one unit each, and what lies behind it stays there.
//
// Beyond CODA, and the MPU paper is silent: how a core's lines are dealt to its units is chosen for
// each object from the traces of the first kernel that touches it, as CODA's profiler-assisted
// variant chooses B.
#pragma once

#include <cstdint>
#include <vector>

#include "host/mechanisms/coda/objects.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

/// Facts about the machine that the study needs.
struct UnitRules {
  uint32_t units = 4;        ///< of a core, a power of two
  uint32_t default_run = 1;  ///< lines in a row that the machine puts behind a unit
  uint32_t line_bytes = 128, page_bytes = 4096;
};

/// How the pages of an object are dealt to units.
struct ObjectUnits {
  /// Lines in a row behind one unit, a power of two; those of a page: each page behind one.
  uint32_t run_lines = 1;
  /// Accesses of whole warps to consecutive bytes, and those whose bytes are behind the unit of
  /// their warp.
  uint64_t accesses = 0, near = 0;
  /// Where pages lie behind one unit each: by page of the object, from the one it begins in.
  std::vector<uint8_t> of_page;
};

/// One for each allocation; those that are not `localised` have the machine's. Reads the traces the
/// first time that it is asked for these (Recording::studies).
std::vector<ObjectUnits> study_units(const runtime::Recording& recording,
                                     const std::vector<ObjectUse>& uses,
                                     const std::vector<bool>& localised, const UnitRules& rules);

}  // namespace nearwarp::coda
