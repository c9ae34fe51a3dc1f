// A run on the CPU, which can be stopped anywhere, looked at and gone on with.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/mechanism.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"
#include "host/timing/run/replay.h"
#include "host/timing/run/trace_feed.h"
#include "kernels/cpu_executor.h"

namespace nearwarp::sim {

struct Progress {
  uint64_t cycles = 0;  ///< core cycles so far
  uint64_t warp_instructions_done = 0;
  uint64_t warp_instructions_total = 0;
};

struct SimOptions {
  unsigned threads = 1;
  /// If set, asked many times a second: threads that the run may have from then on. Results do not
  /// depend on it.
  std::function<unsigned()> threads_now;
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
  uint32_t order_seed = 0;                          ///< see kernels::ExecutorOptions
};

/// Where step() stops before the program's end: at whichever comes first.
struct StopAt {
  Tick tick = kNever;                ///< all of before has been stepped, nothing of it or after it
  uint64_t launches = ~uint64_t{0};  ///< so many launches have ended
};

/// Why step() has returned.
enum class Stepped : uint8_t {
  kEnded,    ///< the program is over, or a limit of the machine has been reached
  kStopped,  ///< SimOptions::progress wanted it
  kThere,    ///< where StopAt says
};

/// Where a run is stopped, and how often, changes nothing of how it ends.
class CpuRun {
 public:
  /// Lays the system out and begins, or goes on from `what.checkpoint`. What `what` points to
  /// outlives the run; of `options` what `what` has too is not looked at. Throws nearwarp::Error.
  CpuRun(const ReplayJob& what, SimOptions options);

  /// Goes on. Throws nearwarp::Error if the machine has come to a stop with work left, or if a
  /// component has recorded a fault; the run cannot be gone on with then.
  /// Once all launches have ended nothing stops it before the program's end.
  Stepped step(StopAt until = {});

  /// Core cycles, never more than the whole run has, and launches that have ended, so far.
  uint64_t cycles() const { return cycle_; }
  uint64_t launches_ended();
  /// The tick at which a core cycle begins; kNever if there is none.
  Tick tick_of(uint64_t cycle);
  Progress progress();
  /// All that has been counted so far, as a partial result. Not before step() has been called.
  report::RunResult so_far();
  /// Write the checkpoint, if one is wanted.
  void save();
  /// The result: whole if step() has reached the program's end, else partial, and the checkpoint is
  /// written. To be called once. Throws nearwarp::Error if something got lost on the way.
  report::RunResult end();

 private:
  bool is_there(const StopAt& until);
  uint64_t cycle_of(Tick at);
  void step_with(unsigned threads);

  SimOptions options_;
  RunWatcher* watcher_;
  Replay run_;
  kernels::SafeTimePlan plan_;
  kernels::RunState state_;
  TraceFeed feed_;
  std::optional<kernels::CpuExecutor> executor_;
  Tick limit_, longest_;
  uint64_t look_at_;    ///< windows
  uint64_t cycle_ = 0;  ///< at which it stands
  bool ended_ = false;
  std::chrono::steady_clock::time_point reported_;
};

}  // namespace nearwarp::sim
