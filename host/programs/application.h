// Runs a CUDA application on the simulated GPU, as a child process with nearwarp's CUDA libraries.
// They record its kernels.
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

/// Options of the functional execution of an application's kernels, and its limits.
struct Execution {
  /// Warps of a thread block take turns of so many instructions; 0: each runs as long as it can.
  uint32_t interleave = 0;
  uint64_t most_thread_instructions = 0;  ///< the application is ended after so many; 0: no limit
  uint64_t most_seconds = 0;  ///< the application is ended after so long in kernels; 0: no limit
  uint32_t devices = 1;       ///< GPUs that the application sees
  /// Accesses beside allocations are faults even where their page is mapped.
  bool strict_bounds = false;
};
inline constexpr uint32_t kMostInterleave = 1 << 15;

struct ApplicationOptions {
  bool check = false;                    ///< look for races instead of recording
  std::string check_without;             ///< value of NEARWARP_CUDART_CHECK_WITHOUT
  std::string kernels;                   ///< regular expression of recorded kernels; empty: all
  uint64_t max_thread_instructions = 0;  ///< recording ends after so many; 0: no limit
  /// The most bytes of traces of thread blocks that run together.
  uint64_t max_trace_bytes = uint64_t{2} << 30;
  std::string registers;    ///< for cudart::parse_registers(); empty: those of its machine code
  std::string ptxas_cache;  ///< folder for results of ptxas; empty: they are not kept
  std::string output;       ///< file for the application's output; empty: that of this process
  Execution execution;
  /// The system on which times between events are simulated, as in EventTimes::begin(); empty:
  /// these times are estimated.
  std::string event_times;
};

struct ApplicationRun {
  /// Journals of the processes that used the GPU, in the order of their process ids.
  std::vector<runtime::Journal> processes;
  /// Their findings instead, with ApplicationOptions::check.
  std::vector<racecheck::Findings> findings;
  int exit_status = 0;  ///< 128 + signal if a signal ended it
  std::string ending;   ///< in words, e.g. "ended with status 3"; empty for status 0
  std::string kernels;  ///< ApplicationOptions::kernels
  ExecutableFacts facts;
  bool offers_driver = false;  ///< nearwarp's driver library is installed
  /// Observer::go_on() has stopped the application; the journals have what was executed before.
  bool interrupted = false;
};

/// Tells the observer how the application ended, unless its status is 0.
void tell_ending(const ApplicationRun& run, Observer& observer);

/// The reason why no process of an application used the device, for errors.
std::string why_not_used(const ApplicationRun& run);
/// The reason why an application that used the device executed no kernel.
std::string why_not_launched(const ApplicationRun& run);

/// The processes that launched recorded kernels, with different names. Tells the observer how the
/// application ended, which of its calls failed and which journals are incomplete. Throws
/// nearwarp::Error if there is no such process.
std::vector<runtime::Journal> take_processes(ApplicationRun& run, Observer& observer);

/// The reason in errors and partial results.
inline constexpr const char* kApplicationInterrupted = "the application was interrupted";

/// Run `command` to its end, with this process's standard input. Throws UsageError if it cannot be
/// run at all, or not on the simulated GPU. After an interrupt by the observer, the application has
/// some seconds to end before it is killed.
ApplicationRun run_application(const std::vector<std::string>& command,
                               const config::MachineConfig& machine,
                               const ApplicationOptions& options, Observer& observer);

}  // namespace nearwarp::programs
