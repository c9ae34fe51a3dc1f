// Counter tracks in the timeline of how busy links, vaults, L2 slices and networks are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/timing/machine/system.h"
#include "host/timing/timeline/trace_writer.h"

namespace nearwarp::timeline {

/// Tracks of the percentage of time, between two samples, in which something is busy. A transfer of
/// several cycles is counted when it begins.
class BusyTracks {
 public:
  /// Name the tracks: those of single components in processes from `pid` on, those of all
  /// components of a kind together in process `overview`.
  BusyTracks(sim::System& system, TraceWriter& out, uint32_t overview, uint32_t pid);

  /// Begin to count at tick `at`.
  void begin(Tick at);
  /// Write the values since the last sample, which was taken in cycle `cycle_before`.
  void sample(Tick at, uint64_t cycle_before, TraceWriter& out);

 private:
  struct Track {
    uint32_t pid = 0;
    std::string name;
    std::function<uint64_t()> busy;  ///< busy ticks so far
    uint64_t of = 1;                 ///< number of ports that can be busy at the same time
    uint64_t before = 0;             ///< busy ticks at the last sample
    uint64_t shown = ~uint64_t{0};   ///< the last value written
    size_t kind = 0;                 ///< position in `kinds_`
  };
  /// All tracks of a kind together.
  struct KindOfTrack {
    std::string name;
    uint64_t of = 0;    ///< number of ports that can be busy at the same time
    uint64_t busy = 0;  ///< busy ticks since the last sample
    uint64_t shown = ~uint64_t{0};
  };
  void links(sim::System& system);
  void vaults(sim::System& system);
  void slices(sim::System& system);
  void networks(sim::System& system);
  void add(uint32_t pid, const std::string& kind, std::string name, uint64_t of,
           std::function<uint64_t()> busy) {
    size_t at = 0;
    while (at < kinds_.size() && kinds_[at].name != kind) at += 1;
    if (at == kinds_.size()) kinds_.push_back({kind});
    kinds_[at].of += of;
    tracks_.push_back({pid, std::move(name), std::move(busy), of, 0, ~uint64_t{0}, at});
  }
  uint32_t process(const std::string& name) {
    processes_.push_back(name);
    return first_pid_ + static_cast<uint32_t>(processes_.size()) - 1;
  }

  uint32_t overview_, first_pid_;
  std::vector<std::string> processes_;
  std::vector<Track> tracks_;
  std::vector<KindOfTrack> kinds_;
  Tick before_ = 0;
};

}  // namespace nearwarp::timeline
