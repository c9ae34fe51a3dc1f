// A log of events in a component, for the host to read between two windows: rare ones, with their
// tick. A log has no room, and nothing is written, unless the host reads it.
#pragma once

#include "device/core/types.h"

namespace nearwarp {

enum class EventKind : uint16_t {
  // Events on the SM that offloads; `warp` is its warp.
  kDecided,  ///< the warp is to be offloaded, and prepares for it
  kSent,     ///< its request has left for the component `other`
  kStays,    ///< it was refused, and goes on at home
  kBack,     ///< it goes on, what was offloaded having been executed
  // Events on the SM that executes; `warp` is its own, for the warp `other_warp` of the SM `other`.
  kArrived,
  kFinished,  ///< executed, its memory operations included
  kAnswered,  ///< what answers the request has left
};

struct Event {
  Tick tick = 0;
  EventKind kind = EventKind::kDecided;
  uint16_t warp = 0;
  uint16_t other = 0, other_warp = 0;
};

/// The host takes what is there, sets `count` to 0, and looks at `lost`.
struct EventLog {
  Ref<Event> events;   ///< no room: the log is off
  uint32_t count = 0;  ///< events in it
  uint32_t lost = 0;   ///< for which there was no room left

  NW_HD NW_INLINE bool is_on() const { return events.count != 0; }
  NW_HD void add(std::byte* base, const Event& event) {
    if (count == events.count) {
      lost += 1;
      return;
    }
    events.in(base)[count++] = event;
  }
};

}  // namespace nearwarp
