// Runs of which some are simulated in parts: all parts of all of them side by side, as one batch.
#pragma once

#include <cstdint>
#include <span>

#include "host/recording/division.h"
#include "host/timing/run/replay_batch.h"

namespace nearwarp::sim {

/// A run in parts. What is pointed to outlives it.
struct DividedJob {
  ReplayJob whole;  ///< but for its part
  /// Null, or without parts: all in one go, as under policies whose programs cannot be divided.
  const runtime::Division* division = nullptr;
};

/// Warp-instructions that are simulated for it, those of launches before parts included.
uint64_t work_of(const DividedJob& job);

/// Simulates all of `jobs`. The observer is told of these, not of their parts: each has ended when
/// all of its parts have, with their results as one, or the error of the first of them that failed.
/// A job whose sample turns out to be no sound one, because what was simulated inside launches
/// still changed, is simulated in one go. Results of runs in one go of which parts were wanted say
/// why (LaunchesReport::in_one_go). Of one of whose parts not all have begun when the
/// observer stops, it is told nothing.
void run_divided(BatchRunner& runner, std::span<const DividedJob> jobs, BatchObserver& observer);

}  // namespace nearwarp::sim
