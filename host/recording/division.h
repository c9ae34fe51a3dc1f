// What of a program is simulated, where that is not all of it in one go.
#pragma once

#include <vector>

#include "host/recording/launch_cuts.h"

namespace nearwarp::runtime {

struct Division {
  std::vector<LaunchPart> parts;  ///< in the program's order; empty: all of it in one go
};

}  // namespace nearwarp::runtime
