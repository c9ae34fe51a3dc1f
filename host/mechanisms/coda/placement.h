// Places a program's objects, and gives each virtual page a physical one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/mechanisms/coda/objects.h"
#include "host/mechanisms/coda/page_groups.h"
#include "host/mechanisms/coda/units.h"
#include "host/recording/recording.h"

namespace nearwarp::coda {

/// The physical page of a virtual one.
struct PlacedPage {
  PageGroups::Frame frame = 0;
  PageMode mode = PageMode::kFgp;
  uint32_t run_lines = 0;  ///< consecutive lines behind one near-bank unit; 0: the machine's number
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

/// Is an object placed by Eq. (2) and (3) (localised), and not spread over all stacks? It is if at
/// least `local_percent` of its accesses are local then, or if the code is the only source of B. An
/// object of a program that is bound to one stack is localised.
bool is_localised(const runtime::Recording& recording, const ObjectUse& use,
                  const PlacementRules& rules, uint32_t local_percent);

/// Place all pages of a program. `cgp`: each page is put in one stack, in turns; else objects are
/// placed by `uses` (see is_localised()). `groups`: the number of page groups of the memory, which
/// have pages for each near-bank unit if `units` is given. Throws nearwarp::Error if they do not
/// suffice.
Placement place_pages(const runtime::Recording& recording, const std::vector<ObjectUse>& uses,
                      const PlacementRules& rules, bool cgp, uint32_t local_percent,
                      uint32_t groups, const std::optional<UnitRules>& units = {});

}  // namespace nearwarp::coda
