// Replays a recorded program on a machine under a policy.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/mechanism.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"
#include "host/timing/run/replay.h"
#include "kernels/cpu_executor.h"

namespace nearwarp::sim {

struct Progress {
  uint64_t cycles = 0;  ///< core cycles so far
  uint64_t warp_instructions_done = 0;
  uint64_t warp_instructions_total = 0;
};

struct SimOptions {
  unsigned threads = 1;
  /// Called some times a second; return false to stop: the result is then partial.
  std::function<bool(const Progress&)> progress;
  std::string checkpoint;                           ///< see ReplayJob
  Shape shape = nullptr;                            ///< see ReplayJob
  MechanismSet mechanisms = built_in_mechanisms();  ///< see ReplayJob
  RunWatcher* watcher = nullptr;                    ///< see ReplayJob
  std::optional<runtime::LaunchPart> part;          ///< see ReplayJob
  std::shared_ptr<const Learnt> learnt;             ///< see ReplayJob
  /// The components' family, if not the product's: one with the mechanisms' device code.
  kernels::StepOnCpu family = nullptr;
  // For tests: results must not depend on these.
  std::chrono::milliseconds progress_interval{50};  ///< at least that, between two calls
  Tick window_ticks = 0;                            ///< 0: the longest possible; else at most that
  uint32_t order_seed = 0, lane_order = 0;          ///< see kernels::ExecutorOptions
};

/// Run to the end of the recording (or a limit: the result is then partial). Throws
/// nearwarp::Error if the simulated machine comes to a stop, with a report of who waits on whom,
/// or if something got lost.
report::RunResult replay_on_cpu(const runtime::Recording& recording,
                                const config::MachineConfig& machine,
                                const config::PolicyConfig& policy, const SimOptions& options);

}  // namespace nearwarp::sim
