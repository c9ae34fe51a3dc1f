// When each warp can issue next: the scoreboard, and a wheel of ready masks by cycle.
//
// A warp's next instruction is looked at once, when its predecessor issues: the latest of its
// registers' ready cycles is when the warp's bit appears in the ready mask. Nothing is scanned.
#pragma once

#include "device/sm/cycles.h"

namespace nearwarp::sm {

/// Have `warp` looked at again at cycle `at` > now.
template <class V>
NW_HD inline void set_timer(V& v, uint32_t warp, uint32_t at, uint32_t now) {
  v.warps[warp].wake = at;
  v.s.timed.set(warp);
  const uint32_t last = now + kWheelSlots - 1;
  const uint32_t slot = (at < last ? at : last) % kWheelSlots;
  v.s.wheel[slot].set(warp);
  v.s.wheel_used |= bit(slot);
}

template <class V>
NW_HD inline void make_ready(V& v, uint32_t warp) {
  v.s.ready.set(warp);
  v.s.unit_warps[static_cast<uint32_t>(v.warps[warp].unit)].set(warp);
}

/// Find out when the warp's next instruction has its operands, not before cycle `earliest`. While
/// one of them is still to come from memory nothing happens; the load's end calls this again.
///
/// `soon`: whoever calls knows that the warp has no turn before that cycle. So a warp that has just
/// issued needs no timer to be ready in the next one.
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
