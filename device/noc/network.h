// Steps all routers and terminals of a network, cycle by cycle. One lane group steps a network.
//
// Lanes share out the units that have something to do in a cycle. A unit affects others only in
// later cycles, so the order in which units are stepped does not matter.
#pragma once

#include "device/core/lanes.h"
#include "device/noc/router.h"

namespace nearwarp::noc {

namespace network_detail {

/// Call step(DueRouter) for each router that is due in one of the cycles [begin, end), and clear
/// their due bits.
template <class Step>
NW_HD NW_INLINE void each_due(const NetworkView& v, Cycle begin, Cycle end, Step&& step) {
  for (uint32_t w = 0; w < router_words(v.p); ++w) {
    uint64_t* const slots = v.due + w * v.p.slots;
    uint64_t due = 0;
    for (Cycle t = begin; t != end; ++t) due |= slots[t & v.slot_mask];
    if (due == 0) continue;
    lanes::each_bit(due, [&](uint32_t bit) NW_INLINE_LAMBDA {
      step(DueRouter{slots, w * 64 + bit, bit});
    });
    for (Cycle t = begin; t != end; ++t) slots[t & v.slot_mask] = 0;
  }
}

}  // namespace network_detail

/// Step the routers through the cycles [begin, end), which are at most `lookahead`, so that nothing
/// that is sent in them arrives in them. Each router that has something to do is stepped through
/// all of them at once, while its state is in the CPU's caches.
NW_HD NW_INLINE void step_routers(const NetworkView& v, Stepping stepping, Cycle begin, Cycle end) {
  for (Cycle t = begin; t != end; ++t)
    if (is_time_to_renew(t)) renew_places(v, t - v.p.lookahead, false);
  const uint32_t head_delay = first_vc_request(v.p, 0);
  if (stepping == Stepping::kUsual)
    return network_detail::each_due(v, begin, end, [&](const DueRouter& due) NW_INLINE_LAMBDA {
      step_word<true>(v, due, head_delay, begin, end);
    });
  network_detail::each_due(v, begin, end, [&](const DueRouter& due) {
    if (stepping == Stepping::kWord) return step_word<false>(v, due, head_delay, begin, end);
    if (stepping == Stepping::kPlain) return step_plain(v, due.router, begin, end);
    for (Cycle t = begin; t != end; ++t)
      if (is_due(v, due.router, t)) step_router(v, due.router, t);
  });
}

/// Step a network through the cycles [begin, end). `Terminals` has step(view, n, t), which steps
/// terminal n through cycle t.
template <class Terminals>
NW_HD void step_network(const NetworkView& v, const Terminals& terminals, Cycle begin, Cycle end) {
  const Stepping stepping = stepping_of(v.p);
  for (Cycle t = begin; t != end;) {
    const Cycle left = end - t;
    const Cycle next = t + (left < v.p.lookahead ? left : v.p.lookahead);
    step_routers(v, stepping, t, next);
    lanes::each_scalar(v.p.terminals, [&](uint32_t n) {
      for (Cycle now = t; now != next; ++now) terminals.step(v, n, now);
    });
    t = next;
  }
}

}  // namespace nearwarp::noc
