// CODA's section in a run's report: where it has put memory objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/timing/report/section.h"

namespace nearwarp::coda {

/// A memory object and how its pages were placed (CODA, section 4.3).
struct PlacedObject {
  std::string name;  ///< the program's; may be empty
  uint64_t address = 0, bytes = 0;
  bool localised = false;      ///< its pages stay in stacks each; else they are spread over all
  uint64_t block_bytes = 0;    ///< B: from one thread block's part to the next one's; 0: none
  bool from_code = false;      ///< B is of the kernel's code, not of traces
  bool constant = false;       ///< that distance is the same for nearly all blocks
  uint64_t chunk_bytes = 0;    ///< Eq. (2): consecutive bytes in a stack
  uint64_t accesses = 0;       ///< of lanes, of the first kernel that touches it
  uint64_t local = 0;          ///< of these, those that are local if it is localised
  uint64_t unit_bytes = 0;     ///< in a row behind one near-bank unit; 0: it was not chosen
  uint64_t warp_accesses = 0;  ///< of whole warps to bytes in a row, of that kernel
  uint64_t near_unit = 0;      ///< of these, those behind the unit of their warp
};

/// In RunResult::sections.
struct Sections {
  std::vector<PlacedObject>
      placed;  ///< empty where a policy places pages without looking at objects
};
inline std::vector<PlacedObject>& placed_of(report::RunResult& run) {
  return run.sections.of<Sections>().placed;
}
inline const std::vector<PlacedObject>& placed_of(const report::RunResult& run) {
  return run.sections.of<Sections>().placed;
}

}  // namespace nearwarp::coda
