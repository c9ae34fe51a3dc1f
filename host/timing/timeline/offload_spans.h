// Spans in the timeline of code that warps have offloaded, made of the events that SMs log.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "host/timing/machine/system.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

/// Gathers the events of offloads, and writes a span for each when its warp has returned.
class OffloadSpans {
 public:
  /// `pid`: the number of endpoint 0's process, as for SmTracks.
  OffloadSpans(uint32_t pid, uint32_t core_period) : pid_(pid), core_period_(core_period) {}

  /// Let SMs log events from now on, or no longer.
  void listen(sim::System& system, bool on);
  /// Take the events that SMs have logged. If `write` is false, offloads are only counted.
  void take(sim::System& system, TraceWriter& out, bool write);
  /// End the trace at tick `at`, and with it the spans of offloads that are under way.
  void end(sim::System& system, Tick at, TraceWriter& out, bool write);

  uint64_t offloads() const { return offloads_; }  ///< offloads that returned or are under way
  uint64_t left_out() const { return left_out_; }  ///< offloads that were not written
  uint64_t lost() const { return lost_; }          ///< events for which an SM's log had no room

 private:
  using WarpOf = std::pair<uint16_t, uint16_t>;  ///< SM, and its warp slot
  static constexpr Tick kNotYet = kNever;

  struct Offload {
    Tick decided = kNotYet, sent = kNotYet, arrived = kNotYet, finished = kNotYet,
         answered = kNotYet;
    uint16_t to = 0;    ///< component that the warp was offloaded to
    WarpOf guest = {};  ///< stack SM and warp slot that execute it, once it has arrived
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
  std::map<WarpOf, WarpOf> home_of_;  ///< by guest: the warp that was offloaded
  std::set<WarpOf> named_;
  uint64_t offloads_ = 0, left_out_ = 0, lost_ = 0;
};

}  // namespace nearwarp::timeline
