// Runs the parts of sweeps as tasks of Slurm's job arrays, and waits for them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/api/nearwarp.h"
#include "host/cli/slurm/options.h"
#include "host/timing/sweep/plan.h"
#include "host/timing/sweep/results_folder.h"

namespace nearwarp::cli {

struct SlurmWork {
  /// Run one after the other; a point that several have is the first one's.
  std::vector<const sweep::Plan*> plans;
  sweep::ResultsFolder results;
  /// The command and the words of a task, but for --shard and --threads. It writes its results into
  /// this folder.
  Words command;
  bool retry = false;  ///< it runs points again that failed
};

struct SlurmOutcome {
  size_t already_there = 0;  ///< points that had been done before
  /// Why points are left, and what to do; empty if none is. Jobs may go on.
  std::string trouble;
};

/// Submits what is not done, as often as it takes, or goes on waiting for what an earlier call has
/// submitted for this folder. Says on standard error how far it is. Ctrl-C ends the waiting alone.
/// What is found is in the parts' files, see sweep::join_parts(). Throws nearwarp::Error if a job
/// cannot be submitted, or the folder is another's.
SlurmOutcome run_on_slurm(const SlurmWork& work, const SlurmOptions& options);
/// The same of one sweep, whose results go to the folder how.out.
SlurmOutcome run_on_slurm(const Sweep& sweep, const SweepOptions& how, const Words& command,
                          const SlurmOptions& options);
/// And of an experiment's studies.
SlurmOutcome run_on_slurm(const Experiment& experiment, const SweepOptions& how,
                          const Words& command, const SlurmOptions& options);

}  // namespace nearwarp::cli
