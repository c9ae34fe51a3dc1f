// The options of `--engine slurm`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct SlurmOptions {
  uint32_t tasks = 0;     ///< parts, of which each is a task of the job array; 0: as it suits
  uint32_t cpus = 1;      ///< of a task, which has as many points at a time
  uint32_t resubmit = 0;  ///< how often a task that ended early is submitted again
  std::string partition, account, time;
  std::string nodes;  ///< tasks run on these only, in Slurm's notation; empty: on any
  Words more;         ///< for sbatch
};

/// Declares --engine and what belongs to it.
void declare_engine(CommandLine& line);

/// Names of all of these options: a task's command line has none of them.
Words engine_options();

/// Understands them; nothing if the engine is this program itself. Throws UsageError, also for
/// options of the command that Slurm's engine cannot be used with, and nearwarp::Error if Slurm's
/// programs are not here.
std::optional<SlurmOptions> chosen_slurm(const CommandLine& line);

}  // namespace nearwarp::cli
