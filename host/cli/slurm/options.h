// The options of `--engine slurm`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

struct SlurmOptions {
  uint32_t tasks = 0;     ///< tasks of the job array, each one part; 0: the default number
  uint32_t cpus = 1;      ///< CPUs of a task, which runs as many points at a time
  uint32_t resubmit = 0;  ///< how often a task that ended early is submitted again
  std::string partition, account, time;
  std::string nodes;  ///< nodes on which tasks may run, in Slurm's notation; empty: any
  Words more;         ///< further options for sbatch
};

/// Declare --engine and the options that go with it.
void declare_engine(CommandLine& line);

/// The names of --engine and the options that go with it. A task's command line has none of them.
Words engine_options();

/// Read these options from a command line; nothing if the engine is "local". Throws UsageError,
/// also for other options of the command that do not go with Slurm, and nearwarp::Error if Slurm's
/// programs are not on the PATH.
std::optional<SlurmOptions> chosen_slurm(const CommandLine& line);

}  // namespace nearwarp::cli
