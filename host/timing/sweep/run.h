// Runs the points of a sweep that are not in its file yet.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "host/recording/division.h"
#include "host/recording/recording.h"
#include "host/timing/run/replay_batch.h"
#include "host/timing/sweep/plan.h"
#include "host/timing/sweep/results_file.h"

namespace nearwarp::sweep {

/// How far a sweep is, counting only what this call has to run.
struct Progress {
  size_t points_done = 0, points = 0;
  /// Programs that have not been executed yet are taken to be as long as the mean of the others.
  uint64_t warp_instructions_done = 0, warp_instructions = 0;
  /// Costs in the host's seconds: points that are done as they took, others as those that have
  /// most in common with them.
  double cost_done = 0, cost = 0;
};

/// The user of a sweep, who gives it recordings and watches its progress.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  /// The recording of definition.programs[program]. Called once per program that has points to run;
  /// the recording is gone before the next one is asked for.
  virtual runtime::Recording recording(size_t program) = 0;
  /// Called some times a second; returns false to stop.
  virtual bool progress(const Progress& progress) = 0;
  /// Told of each line that was written to the file.
  virtual void finished(const std::string& /*line*/) {}
};

struct Outcome {
  size_t points = 0;         ///< of the shard
  size_t already_there = 0;  ///< were in the file before, whether they had failed or not
  size_t finished = 0;       ///< came to an end now
  size_t failed = 0;         ///< of all the shard's points in the file
  bool stopped = false;      ///< on request: points are left
};

/// Chooses the division of a program in which it is simulated, as its points need it.
using Divide =
    std::function<runtime::Division(const runtime::Recording&, const runtime::DivisionNeeds&)>;

struct RunOptions {
  Shard shard;
  bool retry = false;                 ///< run points again that failed
  std::unordered_set<size_t> others;  ///< positions of points that are not this sweep's to run
  std::string checkpoints;            ///< folder for the states of points in progress; empty: none
  /// How each program is divided; null: all of it in one go, as always under policies whose
  /// parts cannot be simulated by themselves (sim::why_no_parts()).
  Divide divide;
};

/// Points of a program that are made, checked and handed to the runner at a time: so many that the
/// few at their end, for which there are fewer than threads, do not count; so few that their
/// machines and policies fit in some tens of megabytes.
inline constexpr size_t kPointsAtOnce = 4096;
/// So many where a program is divided: each of them learns before, and is several runs.
inline constexpr size_t kDividedPointsAtOnce = 64;

/// Is the point one of those to run?
bool is_ours(const RunOptions& options, size_t index);

/// The outcome of run_sweep() if there were nothing to run: points that are left are not in
/// any of its numbers but `points`.
Outcome count_results(const Plan& plan, const RunOptions& options, const ResultsFile& file);

/// Results go to `file` one by one as they finish. The failure of a point is its result; errors of
/// the file are thrown. Points that other sweeps have written are found by place, for which the
/// file is read once more unless it was asked for that before.
Outcome run_sweep(const Plan& plan, const RunOptions& options, sim::BatchRunner& runner,
                  Surroundings& surroundings, ResultsFile& file);

}  // namespace nearwarp::sweep
