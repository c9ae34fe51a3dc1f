// Which object goes where, and which physical page each virtual one gets.
#pragma once

#include <cstdint>
#include <vector>

#include "host/mechanisms/coda/objects.h"
#include "host/mechanisms/coda/page_groups.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

struct PlacedPage {
  PageGroups::Frame frame = 0;
  PageMode mode = PageMode::kFgp;
};

struct Placement {
  /// [application]: its virtual pages from the beginning of device memory to the end of its last
  /// allocation.
  std::vector<std::vector<PlacedPage>> pages;
  std::vector<bool> localised;  ///< by allocation
  uint64_t pages_fgp = 0, pages_cgp = 0;
  uint64_t pages_held = 0;  ///< physical pages of the groups that are in use
};

/// `cgp`: every page in a stack, in turns. Else by `uses`, an object being localised if at least
/// `local_percent` of its accesses are then local. `groups`: of physical pages. Throws
/// nearwarp::Error if they do not suffice.
Placement place_pages(const runtime::Recording& recording, const std::vector<ObjectUse>& uses,
                      const PlacementRules& rules, bool cgp, uint32_t local_percent,
                      uint32_t groups);

}  // namespace nearwarp::coda
