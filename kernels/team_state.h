// A team's orders, in memory of the device: see kernels/team.h.
#pragma once

#include "kernels/run_control.h"

namespace nearwarp::kernels {

inline constexpr uint32_t kNotShared = 0xffffffffu;

/// Which components belong to which warp of a team: warp w has those that stand in `order` from
/// begin[w] up to begin[w + 1]. Warp 0 has the front end, as its first. A warp's components are in
/// groups: first all that are in no cluster, in the order of their phases, then cluster by cluster.
///
/// While a team has a system, its blocks keep some components' States in their shared memory:
/// the one at position i of `order` lies at shared_at[i] of the area of its warp's block, unless
/// that is kNotShared.
struct DealView {
  const uint32_t* order = nullptr;
  const uint32_t* begin = nullptr;
  const uint32_t* shared_at = nullptr;  ///< null: none is shared
  const uint32_t* group_end = nullptr;  ///< by a group's first position: where it ends
};

/// Which component is being stepped; where it lies, the host can read it after a fault too.
struct Footprint {
  uint32_t system = 0;     ///< of the launch's table
  uint32_t component = 0;  ///< its number
  Tick tick = 0;           ///< begin of the window
};

/// One system as a team sees it. Lies in the device's memory, as all that it points to.
struct TeamSystem {
  RunState run;
  DealView deal;
  uint64_t* committed = nullptr;  ///< by warp: warp-instructions of its SMs when the team left
  volatile Footprint* footprint = nullptr;  ///< where to leave one; null: nowhere
  uint32_t number = 0;                      ///< in the launch's table
};

/// How long a launch lasts: a team leaves its system when either is used up, and takes no other.
struct Slice {
  uint64_t windows = ~uint64_t{0};  ///< per system
  uint64_t nanoseconds = ~uint64_t{0};
};

}  // namespace nearwarp::kernels
