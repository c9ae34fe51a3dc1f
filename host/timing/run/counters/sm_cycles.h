// Uses of the cycles of one SM up to some moment between two windows.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/timing/machine/system.h"

namespace nearwarp::sim {

using CycleUses = std::array<uint64_t, sm::kNumCycleUses>;

struct CyclesSoFar {
  std::vector<CycleUses> by_kernel;
  uint64_t warp_cycles = 0;  ///< warps that were there, summed over cycles

  CycleUses all() const;
};

/// Cycles of the SM's own clock that have begun before a tick.
uint64_t sm_cycles_before(System& system, uint32_t endpoint, Tick tick);

/// The cycles of the SM at `endpoint` that have begun before `tick`, to which all of the system
/// has been stepped, or beyond it if no warp has been there since. Changes nothing.
CyclesSoFar cycles_so_far(System& system, uint32_t endpoint, Tick tick);

}  // namespace nearwarp::sim
