// When a system's windows end, and why: the part of the run loop that every backend shares.
#pragma once

#include "kernels/component.h"

namespace nearwarp::kernels {

/// Why windows are no longer stepped.
enum class Stop : uint32_t {
  kNone,
  kEnded,  ///< every component sleeps: the program is over, or the machine is deadlocked
  kLimit,  ///< RunControl::limit has been reached
  kHost,   ///< the host has something to do before the next window: see host_wanted()
  kSlice,  ///< the time that the caller wanted to spend is over
};

/// Where a run stands between two windows. With the arena, all of its state.
struct RunControl {
  Tick next = 0;         ///< the next window begins there
  Tick last = 0;         ///< the last one ended there
  Tick longest = 1;      ///< no window is longer
  Tick limit = kNever;   ///< nothing is stepped from there on
  uint64_t windows = 0;  ///< stepped so far
  Stop stop = Stop::kNone;
};

/// Traces that the host has made ready; it is asked for more before they are needed.
struct ReadyTraces {
  static constexpr uint32_t kAll = 0xffffffffu;
  uint32_t launch = kAll - 1;  ///< of which thread blocks are ready; kAll: those of all launches
  uint32_t blocks = 0;         ///< [0, blocks) of it
  uint32_t margin = 0;         ///< thread blocks that a window can dispatch at most
};

/// One system on its way through a run, as the backend that steps it sees it.
struct RunState {
  sm::SystemView view;
  Ref<Component> table;
  uint32_t front_end = 0;  ///< arena offset of its state
  ReadyTraces ready;
  RunControl control;

  NW_HD NW_INLINE const frontend::FrontEndState& front_end_state() const {
    return at_offset<const frontend::FrontEndState>(view.arena, front_end);
  }
};

/// Must the host do something before the next window: make traces ready, take note of thread
/// blocks that have ended (if it wants to know), choose the data's mapping?
NW_HD inline bool host_wanted(const RunState& run, const frontend::FrontEndState& s) {
  const ReadyTraces& ready = run.ready;
  const sm::ProgramImage& image = run.view.image;
  if (s.host_wanted_by != 0) return true;
  if (ready.launch == ReadyTraces::kAll) return false;
  const frontend::DispatchState& d = s.dispatch;
  if (d.num_done != 0) return true;
  if (d.launch >= image.num_launches) return false;
  if (d.launch != ready.launch) return true;
  const uint32_t next_block = d.running ? d.next_block : 0;
  return ready.blocks < image.launches[d.launch].num_blocks &&
         next_block + ready.margin > ready.blocks;
}

/// The next window.
NW_HD NW_INLINE Window next_window(const RunControl& c) {
  return {c.next, min_tick(c.next + c.longest, c.limit)};
}

/// Take note that a window has been stepped; `next` is the earliest tick at which anything can
/// happen.
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

/// The host has done its part, or a new slice begins: may windows be stepped?
NW_HD inline void begin_windows(RunControl& c) {
  c.stop = c.next >= kNever ? Stop::kEnded : c.next >= c.limit ? Stop::kLimit : Stop::kNone;
}

}  // namespace nearwarp::kernels
