// Runs probe programs on a machine: what lies between a shorter and a longer run.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/timing/probe/plan.h"

namespace nearwarp::probe {

/// The result of one probe.
struct Finding {
  uint64_t cycles = 0;  ///< core cycles that the longer run took more, or that were counted
  uint64_t work = 0;    ///< that it did more: steps of a chase, else bytes; or what was counted
  /// Share of the accesses between the two runs that went where they were meant to, 0 to 1.
  double as_meant = 1;

  /// Core cycles of a step.
  double latency() const;
  double gigabytes_per_second(uint32_t core_mhz) const;
};

/// Findings by section and probe; nothing where the observer has stopped the measurement before.
using Findings = std::vector<std::vector<std::optional<Finding>>>;

/// Is told how many runs have ended; returns false to stop.
using Watch = std::function<bool(size_t done, size_t all)>;

/// Latencies are those without refreshes. `threads` runs at a time; findings do not depend on that.
/// Throws nearwarp::Error if a program goes wrong, or does not take longer when it does more.
Findings measure(const config::MachineConfig& machine, const std::vector<Section>& sections,
                 const Record& record, unsigned threads, const Watch& watch);

}  // namespace nearwarp::probe
