// Ways of stepping a system that must not show in its results.
#pragma once

#include <vector>

#include "tests/sim/device_rig.h"
#include "tests/support/general_steps.h"

namespace nearwarp::testing {

/// Options with other windows, orders and threads, and the general code. `window`: ticks of the
/// first one's windows.
inline std::vector<sim::SimOptions> ways_of_stepping(Tick window = 113) {
  std::vector<sim::SimOptions> ways(3);
  ways[0].window_ticks = window;
  ways[0].order_seed = 3;
  ways[1].threads = 2;
  ways[1].order_seed = 5;
  use_general_steps(ways[2]);
  return ways;
}

/// As above, and windows of one tick unless the program would take long with these.
inline std::vector<sim::SimOptions> ways_of_stepping(const runtime::Recording& recording,
                                                     Tick window) {
  std::vector<sim::SimOptions> ways = ways_of_stepping(window);
  if (recording.warp_instructions > 20'000) return ways;
  ways.emplace_back().window_ticks = 1;
  return ways;
}

}  // namespace nearwarp::testing
