// Memory traces as text: one access per line, "R|W 0xADDRESS [CYCLE]".
#pragma once

#include <string>
#include <vector>

#include "device/dram/traffic_state.h"
#include "host/config/dram.h"

namespace nearwarp::dram {

struct Trace {
  std::vector<TrafficAccess> accesses;
  bool timed = false;  ///< every access has a cycle, counted from the first line's zero
};

/// Read a trace for a channel. Empty lines and what follows a '#' are skipped. Throws
/// nearwarp::Error with file and line for everything else that is not an access.
Trace read_trace(const std::string& path, const config::DramConfig& standard);

}  // namespace nearwarp::dram
