// The scoreboard, and a timer wheel of warps by the cycle in which they can issue.
//
// A warp's next instruction is examined once, when its predecessor issues: in the latest of its
// registers' ready cycles the warp's bit moves from the wheel to the ready mask. So no cycle scans
// the warps.
#pragma once

#include "device/sm/cycles.h"

namespace nearwarp::sm {

/// Set the warp's timer to cycle `at`, which is later than `now`.
template <class V>
NW_HD inline void set_timer(V& v, uint32_t warp, uint32_t at, uint32_t now) {
  v.warps[warp].wake = at;
  v.s.timed.set(warp);
  const uint32_t last = now + kWheelSlots - 1;
  const uint32_t slot = (at < last ? at : last) % kWheelSlots;
  v.s.wheel[slot].set(warp);
  v.s.wheel_used |= bit(slot);
}

/// Add the warp to those that can issue.
template <class V>
NW_HD inline void make_ready(V& v, uint32_t warp) {
  v.s.ready.set(warp);
  v.s.unit_warps[static_cast<uint32_t>(v.warps[warp].unit)].set(warp);
}

/// Make the warp ready in the cycle in which its next instruction has its operands, not before
/// cycle `earliest`. If one of them is still being loaded, the warp waits: the load's end calls
/// this again.
///
/// `soon`: the caller knows that the warp gets no turn before this cycle, so a warp that becomes
/// ready by then needs no timer.
template <class V>
NW_HD NW_INLINE void schedule(V& v, uint32_t warp, uint32_t now, uint32_t earliest, uint32_t soon) {
  Warp& w = v.warps[warp];
  const ImageInstr& in = v.instr(w.at.pc);
  const uint32_t* slots = v.slots(warp);
  const uint32_t n = in.num_slots;
  uint32_t at = earliest;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t t = slots[in.slots[i]];
    at = t > at ? t : at;
  }
  w.unit = in.unit;
  if (at == kPendingLoad) return;
  if (at <= soon) {
    make_ready(v, warp);
  } else {
    set_timer(v, warp, at, now);
  }
}

template <class V>
NW_HD NW_APART_ON_GPU void schedule(V& v, uint32_t warp, uint32_t now, uint32_t earliest) {
  schedule(v, warp, now, earliest, now);
}

}  // namespace nearwarp::sm
