// Steps all routers and terminals of a network, cycle by cycle: a cluster that belongs to one lane
// group.
//
// Lanes share out the units that have something to do in a cycle. Nothing that a unit does can be
// felt by another in the same cycle, so their order does not show.
#pragma once

#include "device/noc/router.h"

namespace nearwarp::noc {

/// Step a network through the cycles [begin, end). `Terminals` has cycle(g, view, t), called once
/// per cycle.
template <class G, class Terminals>
NW_HD void step_network(const G& g, const NetworkView& v, const Terminals& terminals, Cycle begin,
                        Cycle end) {
  for (Cycle t = begin; t != end; ++t) {
    g.each_scalar(v.p.routers, [&](uint32_t r) {
      if (has_work(v, r, t)) step_router(v, r, t);
    });
    terminals.cycle(g, v, t);
  }
}

}  // namespace nearwarp::noc
