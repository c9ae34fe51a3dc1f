// Runs a CUDA application on the simulated GPU: as a child process whose CUDA runtime library is
// nearwarp's. What its kernels did comes back as recordings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/config/machine.h"
#include "host/functional/racecheck/hazard.h"
#include "host/programs/executable.h"
#include "host/programs/observer.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::programs {

/// How an application's kernels are executed, and for how long.
struct Execution {
  uint32_t interleave =
      0;  ///< warps of a thread block take turns every so many instructions; 0: not
  uint64_t most_thread_instructions = 0;  ///< it is ended once they have executed so many; 0: never
  uint64_t most_seconds = 0;              ///< or once they have been executed for so long; 0: never
  uint32_t devices = 1;                   ///< GPUs that it sees
  bool strict_bounds =
      false;  ///< accesses beside allocations end a kernel where their page is mapped
};
inline constexpr uint32_t kMostInterleave = 1 << 15;

struct ApplicationOptions {
  bool check = false;                            ///< look for races instead of recording
  std::string check_without;                     ///< NEARWARP_CUDART_CHECK_WITHOUT
  std::string kernels;                           ///< regular expression; empty: all kernels
  uint64_t max_thread_instructions = 0;          ///< to record; 0: all
  uint64_t max_trace_bytes = uint64_t{2} << 30;  ///< of traces of thread blocks that run together
  std::string registers;    ///< cudart::parse_registers(); empty: as the application's code says
  std::string ptxas_cache;  ///< folder for what ptxas answers; empty: none
  std::string output;  ///< file for what the application prints; empty: where this process does
  Execution execution;
  /// Events tell times simulated on this machine: as EventTimes::begin() has it; empty: estimated.
  std::string event_times;
};

struct ApplicationRun {
  /// Journals of its processes that used the GPU, in the order of their process ids.
  std::vector<runtime::Journal> processes;
  std::vector<racecheck::Findings> findings;  ///< the same, with ApplicationOptions::check
  int exit_status = 0;                        ///< 128 + signal if a signal ended it
  std::string ending;   ///< in words, e.g. "ended with status 3"; empty if it is 0
  std::string kernels;  ///< ApplicationOptions::kernels
  ExecutableFacts facts;
  bool offers_driver = false;  ///< nearwarp's own library of the driver's API was there for it
  /// It was stopped because Observer::go_on() said so: there is what was executed before.
  bool interrupted = false;
};

/// Tells how the application ended, if not well.
void tell_ending(const ApplicationRun& run, Observer& observer);

/// Why no process of an application used the device, for errors.
std::string why_not_used(const ApplicationRun& run);
/// Why an application that used the device launched nothing.
std::string why_not_launched(const ApplicationRun& run);

/// The processes that launched kernels, with names that tell them apart. Tells how the application
/// ended, what it did wrong and what was left out. Throws nearwarp::Error if no process launched a
/// kernel that was recorded.
std::vector<runtime::Journal> take_processes(ApplicationRun& run, Observer& observer);

/// The reason in errors and partial results.
inline constexpr const char* kApplicationInterrupted = "the application was interrupted";

/// Run `command` to its end; it has this process's standard input. Throws UsageError for what
/// cannot be run, or not on the simulated GPU. Where it was not to go on, the application has some
/// seconds to end before it is killed.
ApplicationRun run_application(const std::vector<std::string>& command,
                               const config::MachineConfig& machine,
                               const ApplicationOptions& options, Observer& observer);

}  // namespace nearwarp::programs
