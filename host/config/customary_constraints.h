// The rows of a DRAM without any of its own.
#pragma once

#include <string>
#include <vector>

namespace nearwarp::config {

/// Those of DDR3, DDR4, GDDR5, HBM and HBM2 under all-bank refresh (host/config/constraints.h).
std::vector<std::string> customary_constraints();

}  // namespace nearwarp::config
