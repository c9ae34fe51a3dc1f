// Steps all routers and terminals of a network, cycle by cycle: a cluster that belongs to one lane
// group.
//
// Lanes divide the units that have something to do in a cycle. A unit affects others only in later
// cycles, so the order of units does not matter.
#pragma once

#include "tests/noc/flit_by_flit/router.h"

namespace nearwarp::flit_by_flit {

/// Step a network through the cycles [begin, end). `Terminals` has step(view, n, t), which steps
/// terminal n through cycle t.
///
/// Each unit is stepped through several cycles at a time, while its state is in the host's caches:
/// as many as a flit or credit takes at least to reach another unit.
template <class Terminals>
NW_HD void step_network(const NetworkView& v, const Terminals& terminals, Cycle begin, Cycle end) {
  const bool plain = is_plain(v.p);
  for (Cycle t = begin; t != end;) {
    const Cycle left = end - t;
    const Cycle next = t + (left < v.p.lookahead ? left : v.p.lookahead);
    lanes::each_scalar(v.p.routers, [&](uint32_t r) {
      for (Cycle now = t; now != next; ++now)
        if (due_in(v, now)[r] != 0) step_router(v, r, now, plain);
    });
    lanes::each_scalar(v.p.terminals, [&](uint32_t n) {
      for (Cycle now = t; now != next; ++now) terminals.step(v, n, now);
    });
    t = next;
  }
}

}  // namespace nearwarp::flit_by_flit
