// Bounds the interval of refreshes from below, so that accesses make progress between them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/config/constraints.h"

namespace nearwarp::config {

struct RefreshTimes {
  uint64_t takes = 0;           ///< cycles from a refresh to an activation of its banks
  uint64_t least_interval = 0;  ///< cycles from one refresh to the next
};

/// Finds the times for a table of constraints. `read_cycles` and `write_cycles` are the cycles from
/// a command to the end of its data. The interval is sufficient, not minimal; that of real memories
/// is far longer.
RefreshTimes refresh_times(const std::vector<Constraint>& all, const DramParts& parts,
                           uint64_t read_cycles, uint64_t write_cycles);

}  // namespace nearwarp::config
