// Which object goes where, and which physical page each virtual one gets.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/mechanisms/coda/objects.h"
#include "host/mechanisms/coda/page_groups.h"
#include "host/mechanisms/coda/units.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

struct PlacedPage {
  PageGroups::Frame frame = 0;
  PageMode mode = PageMode::kFgp;
  uint32_t run_lines = 0;  ///< in a row behind one near-bank unit; 0: as the machine has it
};

struct Placement {
  /// [application]: its virtual pages from the beginning of device memory to the end of its last
  /// allocation.
  std::vector<std::vector<PlacedPage>> pages;
  std::vector<bool> localised;     ///< by allocation
  std::vector<ObjectUnits> units;  ///< by allocation; empty where units are the machine's
  uint64_t pages_fgp = 0, pages_cgp = 0;
  uint64_t pages_held = 0;  ///< physical pages of the groups that are in use
};

/// Is an object put by Eq. (2) and (3), and not spread? If at least `local_percent` of its accesses
/// are then local, or the code alone is asked; that of a program with one stack is in it.
bool is_localised(const runtime::Recording& recording, const ObjectUse& use,
                  const PlacementRules& rules, uint32_t local_percent);

/// `cgp`: every page in a stack, in turns. Else by `uses`, an object being localised if at least
/// `local_percent` of its accesses are then local. `groups`: of physical pages, those of `units`
/// having a row for each near-bank unit. Throws nearwarp::Error if they do not suffice.
Placement place_pages(const runtime::Recording& recording, const std::vector<ObjectUse>& uses,
                      const PlacementRules& rules, bool cgp, uint32_t local_percent,
                      uint32_t groups, const std::optional<UnitRules>& units = {});

}  // namespace nearwarp::coda
