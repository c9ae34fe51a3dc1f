// Runs the parts of sweeps as tasks of Slurm's job arrays, and waits for them.
#pragma once

#include <cstddef>
#include <string>

#include "host/api/sweep_parts.h"
#include "host/cli/slurm/options.h"

namespace nearwarp::cli {

struct SlurmOutcome {
  size_t already_there = 0;  ///< points that had been done before
  /// Why points are left, and what to do; empty if none is. Jobs may go on.
  std::string trouble;
};

/// Submits what is not done, as often as it takes, or goes on waiting for what an earlier call has
/// submitted for this folder. Says on standard error how far it is. Ctrl-C ends the waiting alone.
/// Results are in the parts' files, see SweepParts::join(). `command`: the words of a task,
/// but for --shard and --threads; it writes its results into the parts' folder. Throws
/// nearwarp::Error if a job cannot be submitted, or the folder is another's.
SlurmOutcome run_on_slurm(SweepParts parts, const Words& command, const SlurmOptions& options);

}  // namespace nearwarp::cli
