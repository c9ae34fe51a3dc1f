// Steps all routers and terminals of a network, cycle by cycle: a cluster that belongs to one lane
// group.
//
// Lanes share out the units that have something to do in a cycle. Nothing that a unit does can be
// felt by another in the same cycle, so their order does not show.
#pragma once

#include "tests/noc/flit_by_flit/router.h"

namespace nearwarp::flit_by_flit {

/// Step a network through the cycles [begin, end). `Terminals` has step(view, n, t), which steps
/// terminal n through cycle t.
///
/// Each unit is stepped through as many cycles at a time as it takes anything to reach another,
/// while its state is at hand.
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
