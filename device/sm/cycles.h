// Uses of an SM's cycles. Every cycle counts once: for issuing if something was issued in
// it, else for one reason (CycleUse), which follows from the state that the cycle leaves.
//
// An SM that cannot issue sleeps, and is not stepped for this. State does not change in between, so
// the cycles from one change to the next are counted together, at the first step after it: once
// for many. Cycles are counted by kernel, too: for that of the newest thread block or guest here.
//
// Nothing depends on how often the SM is stepped: a step that changes nothing moves no cycle from
// one use to another.
#pragma once

#include "device/sm/sm_view.h"

namespace nearwarp::sm {

/// Counts cycles from `now` on for `kernel`.
template <class V>
NW_HD inline void count_for_kernel(V& v, uint32_t kernel, uint32_t now) {
  auto& c = v.s.cycles;
  const uint32_t row = kernel * kNumCycleUses;
  if (row == c.row || row >= c.counts.count) return;
  if (c.from <= now) {  // else something was issued in this cycle, which has been counted
    c.uses[static_cast<uint32_t>(c.use)] += now - c.from;
    c.from = c.since = now;
  }
  uint64_t* counts = c.counts.in(v.base) + c.row;
  for (uint32_t i = 0; i < kNumCycleUses; ++i) {
    counts[i] += c.uses[i];
    c.uses[i] = 0;
  }
  c.known = false;
  c.row = row;
}

/// Moves the warp to another phase.
template <class V>
NW_HD NW_APART_ON_GPU void enter_phase(V& v, uint32_t warp, Phase phase) {
  Warp& w = v.warps[warp];
  v.s.in_phase[static_cast<uint32_t>(w.phase)].clear(warp);
  v.s.in_phase[static_cast<uint32_t>(phase)].set(warp);
  if (phase == Phase::kRunning || phase == Phase::kFree) {
    v.s.at_rest.clear(warp);
  } else {
    v.s.at_rest.set(warp);
  }
  v.s.cycles.known = false;
  w.phase = phase;
}

/// Gives the slot to a new warp, which runs.
template <class V>
NW_HD NW_INLINE void take_slot(V& v, uint32_t warp) {
  NW_ASSERT(v.warps[warp].phase == Phase::kFree);
  v.warps[warp] = Warp{};
  v.s.timed.clear(warp);
  enter_phase(v, warp, Phase::kRunning);
}

/// Notes that something of the warp's is executed elsewhere, or is no more.
template <class V>
NW_HD NW_INLINE void set_away(V& v, uint32_t warp, bool away) {
  if (away) {
    v.s.away.set(warp);
  } else {
    v.s.away.clear(warp);
  }
  v.s.cycles.known = false;
}

/// Counts the warps that are here up to cycle `now`, in which some come or go.
template <class V>
NW_HD inline void count_warps(V& v, uint32_t now) {
  auto& c = v.s.cycles;
  c.warp_cycles += uint64_t{v.p.num_warps - v.s.free_warps.size()} * (now - c.warps_since);
  c.warps_since = now;
}

/// Notes an event, if the machine has a log of events.
template <class V>
NW_HD NW_INLINE void note_event(V& v, EventKind kind, uint32_t now, uint32_t warp,
                                uint32_t other = 0, uint32_t other_warp = 0) {
  if (!v.s.log.is_on()) return;
  v.s.log.add(v.base, {v.tick(now), kind, static_cast<uint16_t>(warp), static_cast<uint16_t>(other),
                       static_cast<uint16_t>(other_warp)});
}

}  // namespace nearwarp::sm
