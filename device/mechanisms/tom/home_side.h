// Candidates that a warp executes on its own SM ("at home"): how the warp leaves one, and how it
// enters a block inside it that is a candidate by itself.
#pragma once

#include "device/mechanisms/tom/map_analyzer.h"
#include "device/mechanisms/tom/warp_side.h"

namespace nearwarp::tom {

/// End a search that met no memory instruction; the warp goes on at home.
template <class O>
NW_HD NW_APART void end_search(O& o, uint32_t warp) {
  WarpSide& t = side_of(o, warp);
  t.step = Step::kNone;
  t.searched = t.searched_threads = 0;
  counters_of(o, t).no_memory_access += 1;
  set_bit(o.v.warps[warp].count, o.bit, false);
}

/// Leave the warp's candidate, if any: the warp has come to its end, or to the end of its trace.
template <class O>
NW_HD NW_APART inline void leave_candidate(O& o, uint32_t warp, uint32_t now) {
  WarpSide& t = side_of(o, warp);
  if (t.candidate == kNoCandidate) return;
  if (t.step == Step::kSearching) {
    end_search(o, warp);
  }
  if (t.at_home) {
    t.at_home = false;
    CandidateCounters& n = counters_of(o, t);
    if (!t.was_away) {
      n.kept += 1;
      n.kept_cycles += now - (o.p.tuning.inside ? t.home_since : t.decided);
    }
  }
  if (o.p.tuning.on) counters_of(o, t).home_cycles += now - t.home_since;
  if (t.analyzed) close_instance(o, warp);
  Warp& w = o.v.warps[warp];
  leave(o, w, t);
  w.count = static_cast<uint8_t>(w.count & ~o.bit);
}

/// The candidate's condition does not hold: too few iterations are ahead. The warp does not offer
/// it again before it has left it, since iterations ahead only become fewer.
template <class O>
NW_HD NW_INLINE void refuse_short(O& o, WarpSide& t) {
  counters_of(o, t).refused_condition += 1;
  t.paused = true;
}

/// Make the warp, whose candidate has too few iterations, enter the inner candidate that begins at
/// its cursor. Returns false if there is none.
template <class O>
NW_HD NW_APART inline bool enter_inner(O& o, uint32_t warp, uint32_t now) {
  Warp& w = o.v.warps[warp];
  WarpSide& t = side_of(o, warp);
  const uint16_t inner = o.p.program(o.v.base).inner_beginning(w.at.pc);
  if (inner == kNoCandidate) return false;
  t.at_home = false;  // short ones are not what offloading is compared with
  leave_candidate(o, warp, now);
  t.candidate = inner;
  t.paused = t.was_away = false;
  t.rounds_passed = 0;
  t.saved = w.at;
  t.home_since = now;
  w.watch = static_cast<uint8_t>(w.watch | o.bit);
  if (o.p.tuning.on) counters_of(o, t).entries += 1;
  return true;
}

}  // namespace nearwarp::tom
