// Runs a CUDA application on the simulated GPU: as a child process whose CUDA runtime library is
// nearwarp's. What its kernels did comes back as recordings.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/executable.h"
#include "host/cli/options.h"
#include "host/config/machine.h"
#include "host/functional/racecheck/hazard.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::cli {

struct ApplicationOptions {
  bool check = false;                            ///< look for races instead of recording
  std::string check_without;                     ///< NEARWARP_CUDART_CHECK_WITHOUT
  std::string kernels;                           ///< regular expression; empty: all kernels
  uint64_t max_thread_instructions = 0;          ///< to record; 0: all
  uint64_t max_trace_bytes = uint64_t{2} << 30;  ///< of traces of thread blocks that run together
  std::string registers;    ///< --registers; empty: as the application's code says
  std::string ptxas_cache;  ///< folder for what ptxas answers; empty: none
  /// Variables and values for the library: how kernels are executed, and how long.
  std::vector<std::pair<std::string, std::string>> execution;
  /// Events tell times simulated on this machine: as EventTimes::begin() has it; empty: estimated.
  std::string event_times;
};

struct ApplicationRun {
  /// Those of its processes that used the GPU, in the order of their process ids.
  std::vector<runtime::Journal> processes;
  std::vector<racecheck::Findings> findings;  ///< the same, with ApplicationOptions::check
  int exit_status = 0;                        ///< 128 + signal if a signal ended it
  std::string ending;   ///< in words, e.g. "ended with status 3"; empty if it is 0
  std::string kernels;  ///< ApplicationOptions::kernels
  ExecutableFacts facts;
  bool offers_driver = false;  ///< nearwarp's own library of the driver's API was there for it
  /// By Ctrl-C or SIGTERM to this program, which has taken note: there is what was executed before.
  bool interrupted = false;
};

/// Declares --kernels, --max-instructions, --trace-memory, --event-times, --registers and those of
/// execution.
void declare_application(CommandLine& line);
/// Their values. Throws UsageError if they are given and there is no application.
ApplicationOptions application_options(const CommandLine& line, const Words& application);

/// Declares --interleave, --execute-most, --time-limit, --devices and --strict-bounds.
void declare_execution(CommandLine& line);
/// ApplicationOptions::execution by them. Throws UsageError if one is given and there is no
/// application; `command` is for its example.
std::vector<std::pair<std::string, std::string>> execution_options(const CommandLine& line,
                                                                   const Words& application,
                                                                   const std::string& command);

/// The value of --kernels. Throws UsageError for what is no regular expression.
std::string kernels_option(const CommandLine& line);

/// Says on standard error how the application ended, if not well.
void tell_ending(const ApplicationRun& run);

/// Why no process of an application used the device, for errors.
std::string why_not_used(const ApplicationRun& run);
/// Why nothing was launched by one that did.
std::string why_not_launched(const ApplicationRun& run);

/// The processes that launched kernels, with names that tell them apart. Says on standard error
/// how the application ended, what it did wrong and what was left out. Throws nearwarp::Error if no
/// process launched a kernel that was recorded.
std::vector<runtime::Journal> take_processes(ApplicationRun& run);

/// For errors and partial results.
inline constexpr const char* kApplicationInterrupted = "the application was interrupted";

/// Run `command` to its end; it has nearwarp's standard input and output. Throws UsageError for
/// what cannot be run, or not on the simulated GPU.
ApplicationRun run_application(const Words& command, const config::MachineConfig& machine,
                               const ApplicationOptions& options);

}  // namespace nearwarp::cli
