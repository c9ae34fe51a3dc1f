// A run on the CPU that can be stopped anywhere, looked at and continued.
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
  /// If set, it is called many times a second and returns the number of threads that the run may
  /// use from then on. Results do not depend on it.
  std::function<unsigned()> threads_now;
  /// Called several times a second. If it returns false, the run stops, and its result is partial.
  std::function<bool(const Progress&)> progress;
  std::string checkpoint;                           ///< see ReplayJob
  Shape shape = nullptr;                            ///< see ReplayJob
  MechanismSet mechanisms = built_in_mechanisms();  ///< see ReplayJob
  RunWatcher* watcher = nullptr;                    ///< see ReplayJob
  std::optional<runtime::LaunchPart> part;          ///< see ReplayJob
  std::shared_ptr<const Learnt> learnt;             ///< see ReplayJob
  /// The components' family, which has the mechanisms' device code; null: that of the program.
  kernels::StepOnCpu family = nullptr;
  // For tests: results must not depend on these.
  std::chrono::milliseconds progress_interval{50};  ///< least time between two calls of `progress`
  Tick window_ticks = 0;                            ///< greatest length of windows; 0: no limit
  uint32_t order_seed = 0;                          ///< see kernels::ExecutorOptions
};

/// Places at which step() stops before the program's end, whichever comes first.
struct StopAt {
  Tick tick = kNever;                ///< all ticks before it have been stepped, but not itself
  uint64_t launches = ~uint64_t{0};  ///< number of launches that have ended
};

/// Why step() has returned.
enum class Stepped : uint8_t {
  kEnded,    ///< the program is over, or a limit of the machine has been reached
  kStopped,  ///< SimOptions::progress returned false
  kThere,    ///< a place of StopAt has been reached
};

/// A run on the CPU. Its results do not depend on where it is stopped, or how often.
class CpuRun {
 public:
  /// Lay the system out and begin, or go on from `what.checkpoint`. Everything that `what` points
  /// to must outlive the run. Members of `options` that `what` has as well are ignored. Throws
  /// nearwarp::Error.
  CpuRun(const ReplayJob& what, SimOptions options);

  /// Go on until `until`, or the program's end. Throws nearwarp::Error if the machine has come to a
  /// stop with work left, or if a component has recorded a fault; the run cannot go on after that.
  /// Once all launches have ended, nothing stops it before the program's end.
  Stepped step(StopAt until = {});

  /// Core cycles so far (never more than the whole run has), and launches that have ended so far.
  uint64_t cycles() const { return cycle_; }
  uint64_t launches_ended();
  /// The tick at which a core cycle begins; kNever if there is none.
  Tick tick_of(uint64_t cycle);
  Progress progress();
  /// Everything counted so far, as a partial result. Requires that step() has been called.
  report::RunResult so_far();
  /// Write the checkpoint, if one is wanted.
  void save();
  /// End the run, and return its result: whole if step() has reached the program's end, else
  /// partial. Writes the checkpoint, if one is wanted. To be called once. Throws nearwarp::Error if
  /// a check of conservation fails.
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
  uint64_t look_at_;    ///< number of windows after which the clock and progress are looked at
  uint64_t cycle_ = 0;  ///< core cycle that the run has reached
  bool ended_ = false;
  std::chrono::steady_clock::time_point reported_;
};

}  // namespace nearwarp::sim
