// When a system's windows end, and why: the part of the run loop that every backend shares.
#pragma once

#include "kernels/kinds.h"

namespace nearwarp::kernels {

/// Why windows are no longer stepped.
enum class Stop : uint32_t {
  kNone,
  kEnded,  ///< every component sleeps: the program is over, or the machine is deadlocked
  kLimit,  ///< RunControl::limit has been reached
  kHost,   ///< the host has something to do before the next window: see host_wanted()
  kSlice,  ///< the caller's share of host time is over
};

/// The state of a run between two windows; with the arena it is all of its state.
struct RunControl {
  Tick next = 0;         ///< beginning of the next window
  Tick last = 0;         ///< end of the last window
  Tick longest = 1;      ///< greatest length of a window
  Tick limit = kNever;   ///< no tick from this one on is stepped
  uint64_t windows = 0;  ///< windows stepped so far
  Stop stop = Stop::kNone;
};

/// A system and the state of its run, as a backend steps it.
struct RunState {
  sm::SystemView view;
  Ref<Component> table;
  uint32_t front_end = 0;  ///< arena offset of its state
  RunControl control;

  NW_HD NW_INLINE const frontend::FrontEndState& front_end_state() const {
    return at_offset<const frontend::FrontEndState>(view.arena, front_end);
  }
};

/// Must the host do something before the next window: provide traces, note thread blocks that have
/// ended (if it wants to know), or choose the data's mapping?
NW_HD inline bool host_wanted(const frontend::FrontEndState& s) {
  return s.host_wanted_by != 0 || s.dispatch.host_wanted;
}

/// The window to be stepped next, which ends at the limit at the latest.
NW_HD NW_INLINE Window next_window(const RunControl& c) {
  return {c.next, min_tick(c.next + c.longest, c.limit)};
}

/// Note that a window has been stepped. `next` is the earliest tick at which anything can happen.
NW_HD inline void end_window(RunControl& c, const Window& window, Tick next, bool host_is_wanted,
                             bool slice_is_over) {
  c.next = next;
  c.last = window.end;
  c.windows += 1;
  c.stop = host_is_wanted    ? Stop::kHost
           : next >= kNever  ? Stop::kEnded
           : next >= c.limit ? Stop::kLimit
           : slice_is_over   ? Stop::kSlice
                             : Stop::kNone;
}

/// Go on after the host has done its part, or with a new slice: `stop` says whether there is
/// anything left to step.
NW_HD inline void begin_windows(RunControl& c) {
  c.stop = c.next >= kNever ? Stop::kEnded : c.next >= c.limit ? Stop::kLimit : Stop::kNone;
}

}  // namespace nearwarp::kernels
