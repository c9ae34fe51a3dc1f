// The division of a program into parts, such as samples, that are simulated independently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/recording/launch_cuts.h"
#include "host/recording/launch_sample.h"

namespace nearwarp::runtime {

/// The reason why the whole program is simulated in one go, though a division was requested.
struct InOneGo {
  std::string tried;  ///< the division, e.g. "a sample within 2 %"
  std::string why;    ///< the reason why it is not possible
};

struct Division {
  std::vector<LaunchPart> parts = {};       ///< in the program's order; empty: all of it in one go
  std::optional<LaunchSample> sample = {};  ///< set if the parts are a sample of the program
  std::vector<std::string> undivided = {};  ///< sentences on long launches not sampled inside
  std::optional<InOneGo> in_one_go = {};    ///< set if a requested division is not possible
};

/// Requirements of the systems that a program is simulated on, so that one division suits all.
struct DivisionNeeds {
  uint32_t before = 0;    ///< launches of a part's lead-in, unless a number is given
  uint32_t together = 0;  ///< the first launches, in which policies learn; they stay in one part
  bool apart = false;     ///< some machine has its SMs in the parts of its memory
  bool by_load = false;   ///< some policy decides by how busy its machine is at the moment
  std::vector<uint64_t> resident = {};  ///< by launch, the most thread blocks that a machine holds

  bool operator==(const DivisionNeeds&) const = default;
};

}  // namespace nearwarp::runtime
