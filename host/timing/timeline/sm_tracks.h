// Counter tracks of SMs: warps that are there, and what cycles are spent on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "host/timing/run/counters/sm_cycles.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

class SmTracks {
 public:
  /// Names a process for each SM: its number is the endpoint and `pid`. Tracks of all SMs of a
  /// class together are in process `overview`.
  SmTracks(sim::System& system, TraceWriter& out, uint32_t overview, uint32_t pid);

  /// The first moment; what was before is not shown.
  void begin(sim::System& system, Tick at);
  /// Write what happened since the sample before.
  void sample(sim::System& system, Tick at, uint64_t cycle_before, TraceWriter& out);

 private:
  static constexpr uint64_t kNothing = ~uint64_t{0};
  struct Track {
    uint16_t endpoint = 0;
    sim::CycleUses before = {};
    uint64_t warp_cycles = 0;
    // The last values written to the file, in hundredths.
    std::array<uint64_t, sm::kNumCycleUses> uses = {};
    uint64_t warps = kNothing;
    size_t all = 0;  ///< position in `classes_`
  };
  /// SMs of a class: sums since the sample before.
  struct Class {
    std::string name;
    sim::CycleUses uses = {};
    uint64_t cycles = 0, warp_cycles = 0;
    std::array<uint64_t, sm::kNumCycleUses> shown = {};
    uint64_t warps_shown = kNothing;
  };
  void sample_classes(uint64_t cycle_before, TraceWriter& out);

  uint32_t overview_, pid_;
  std::vector<Track> tracks_;
  std::vector<Class> classes_;
};

}  // namespace nearwarp::timeline
