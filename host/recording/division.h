// What of a program is simulated, where that is not all of it in one go.
#pragma once

#include <optional>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/launch_sample.h"

namespace nearwarp::runtime {

struct Division {
  std::vector<LaunchPart> parts = {};       ///< in the program's order; empty: all of it in one go
  std::optional<LaunchSample> sample = {};  ///< parts are a sample; else they are the whole program
};

}  // namespace nearwarp::runtime
