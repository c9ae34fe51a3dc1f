// The parts of a program that are simulated, where that is not all of it in one go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/launch_sample.h"

namespace nearwarp::runtime {

/// A division that was asked for and is none: all of the program is simulated in one go.
struct InOneGo {
  std::string tried;  ///< e.g. "a sample within 2 %"
  std::string why;    ///< it was given up
};

struct Division {
  std::vector<LaunchPart> parts = {};       ///< in the program's order; empty: all of it in one go
  std::optional<LaunchSample> sample = {};  ///< parts are a sample; else they are the whole program
  std::vector<std::string> undivided = {};  ///< long launches that are not sampled inside, and why
  std::optional<InOneGo> in_one_go = {};    ///< why there are no parts, where some were asked for
};

/// Needs of systems that are simulated together, so that a division suits all of them.
struct DivisionNeeds {
  uint32_t before = 0;    ///< launches that are simulated before each part, unless others are named
  uint32_t together = 0;  ///< launches, from the first one on, in which policies learn
  bool apart = false;     ///< SMs lie in the parts of some machine's memory
  std::vector<uint64_t> resident =
      {};  ///< by launch: thread blocks on a machine at a time, at most

  bool operator==(const DivisionNeeds&) const = default;
};

}  // namespace nearwarp::runtime
