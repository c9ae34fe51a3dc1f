// Spans of what warps have executed elsewhere, made of the events that SMs note.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/timing/machine/system.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

class OffloadSpans {
 public:
  /// Processes are those of SmTracks.
  OffloadSpans(uint32_t pid, uint32_t core_period) : pid_(pid), core_period_(core_period) {}

  /// SMs note events from now on, or no more.
  void listen(sim::System& system, bool on);
  /// Take what SMs have noted. `write`: else it is only counted.
  void take(sim::System& system, TraceWriter& out, bool write);
  /// The trace ends at tick `at`: what is under way ends with it.
  void end(sim::System& system, Tick at, TraceWriter& out, bool write);

  uint64_t offloads() const { return offloads_; }  ///< that have come back or are under way
  uint64_t left_out() const { return left_out_; }  ///< of these, not written
  uint64_t lost() const { return lost_; }          ///< events for which SMs had no room

 private:
  using WarpOf = std::pair<uint16_t, uint16_t>;  ///< SM, and its warp slot
  static constexpr Tick kNotYet = kNever;

  struct Offload {
    Tick decided = kNotYet, sent = kNotYet, arrived = kNotYet, finished = kNotYet,
         answered = kNotYet;
    uint16_t to = 0;    ///< component
    WarpOf guest = {};  ///< once it has arrived
  };
  struct Noted {
    uint16_t endpoint;
    Event event;
  };

  void note(const Noted& n, sim::System& system, TraceWriter& out, bool write);
  void write(WarpOf warp, const Offload& o, Tick back, sim::System& system, TraceWriter& out);
  void came_back(WarpOf warp, Tick at, sim::System& system, TraceWriter& out, bool write);
  static const char* last_stage(const Offload& o);
  void thread(WarpOf warp, TraceWriter& out);
  uint64_t cycle(Tick at) const { return at / core_period_; }

  uint32_t pid_, core_period_;
  std::map<uint16_t, Ref<Event>> logs_;  ///< by SM
  std::map<WarpOf, Offload> under_way_;
  std::map<WarpOf, WarpOf> home_of_;  ///< of guests
  std::set<WarpOf> named_;
  uint64_t offloads_ = 0, left_out_ = 0, lost_ = 0;
};

}  // namespace nearwarp::timeline
