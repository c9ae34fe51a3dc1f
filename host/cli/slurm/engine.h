// Runs the parts of sweeps as tasks of Slurm's job arrays, and waits for them.
#pragma once

#include <cstddef>
#include <string>

#include "host/api/sweep_parts.h"
#include "host/cli/slurm/options.h"

namespace nearwarp::cli {

struct SlurmOutcome {
  size_t already_there = 0;  ///< points that were done before this call
  /// Why points are left, and what to do about it; empty if none are. Jobs may still run.
  std::string trouble;
};

/// Runs the missing points as tasks of a job array and waits for them; if an earlier call has
/// submitted jobs for this folder, waits for those. Parts whose tasks end early are submitted
/// again, up to options.resubmit times. Shows progress on standard error. Ctrl-C ends the waiting,
/// not the jobs. Results are in the parts' files, see SweepParts::join(). `command`: the words of a
/// task's command line, without --shard and --threads; it has to write results into the parts'
/// folder. Throws nearwarp::Error if a job cannot be submitted, or another process or other points
/// use the folder.
SlurmOutcome run_on_slurm(SweepParts parts, const Words& command, const SlurmOptions& options);

}  // namespace nearwarp::cli
