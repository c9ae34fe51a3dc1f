// One system's run, the stepping of windows apart: what comes before, in between and after it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"
#include "host/mechanisms/mechanism.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"
#include "host/timing/report/result.h"
#include "host/timing/run/launch_part.h"
#include "kernels/run_control.h"
#include "kernels/safe_times.h"

namespace nearwarp::sim {

class Replay;
struct Learnt;

/// Looks at a run between windows. What it does changes no result.
class RunWatcher {
 public:
  virtual ~RunWatcher() = default;
  /// Events that an SM may have to keep for it from one look to the next (device/core/event_log.h).
  virtual uint32_t log_events() const { return 0; }
  /// The run is about to begin.
  virtual void begin(Replay&) {}
  /// The tick at which it wants to look at the run next; kNever: no more.
  virtual Tick next_look() const = 0;
  /// The run stands at that tick, or beyond it if nothing happens before: all of before has been
  /// stepped.
  virtual void look(Replay& run) = 0;
  /// The run is over.
  virtual void end(Replay&, const report::RunResult&) {}
};

/// A recorded program on a machine under a policy. What is pointed to outlives the run.
struct ReplayJob {
  const runtime::Recording* recording = nullptr;
  const config::MachineConfig* machine = nullptr;
  const config::PolicyConfig* policy = nullptr;
  /// Where to keep the run's state, to go on from it another time; empty: nowhere.
  std::string checkpoint = {};
  Shape shape = nullptr;  ///< of the machine; null: the one that its key names
  /// The mechanisms that policy.mechanism may name.
  MechanismSet mechanisms = built_in_mechanisms();
  RunWatcher* watcher = nullptr;  ///< is told how the run goes on; only on the CPU
  /// Launches that are simulated, and reported, instead of all; only on the CPU, without checkpoint
  /// and watcher.
  std::optional<runtime::LaunchPart> part = {};
  /// Facts that its policy learnt before the part (run/learning.h); null: it begins anew.
  std::shared_ptr<const Learnt> learnt = nullptr;
};

/// Warp-instructions that are simulated for it, unless something stops it.
uint64_t work_of(const ReplayJob& job);

class Replay {
 public:
  /// Lays the system out. `window_ticks`: the longest window, 0 for the longest possible. Throws
  /// nearwarp::Error for combinations that cannot be built.
  Replay(const ReplayJob& what, Tick window_ticks);

  const ImageTables& image() const { return image_; }
  System& system() { return system_; }
  const runtime::Recording& recording() const { return *what_.recording; }
  kernels::RunControl& control() { return control_; }
  /// The run as a backend that works on the host's memory sees it, the traces apart.
  kernels::RunState state();
  /// Before state() is first asked for: let windows be longer than the control channels, where
  /// there is anything to gain; what the CPU's executor needs for that.
  kernels::SafeTimePlan lengthen_windows();
  /// Thread blocks that a window can dispatch at most.
  uint32_t dispatch_margin() const;
  /// Are windows longer than the control channels?
  bool is_lengthened() const { return control_.longest > system_.window; }
  /// Core cycles in a window, at most.
  uint32_t window_cycles() const;

  /// Before the first window: go on from the checkpoint if there is one, else begin. Throws
  /// nearwarp::Error if the file is not a checkpoint of this run, or damaged.
  void begin();
  /// Write the checkpoint, if one is wanted; the state must be the host's, between two windows, and
  /// what front_end().num_done says must have been taken note of.
  void save();
  /// Has enough time passed since the last one?
  bool is_time_to_save() const;
  /// The host's part between windows: what the mechanisms have to do there.
  void serve() {
    for (const auto& m : mechanisms_) m->serve(system_);
  }
  /// Does a mechanism find out now what holds for the rest of the program?
  bool learns() const;
  /// Facts that mechanisms have learnt, by mechanism; nothing while one has not.
  std::optional<std::vector<std::string>> learnt();
  /// After Stop::kLimit, with `committed` warp-instructions so far: is the run over? If not it has
  /// another limit from now on, where its instructions are counted again.
  bool is_over(uint64_t committed);
  /// To be asked some times a second: has nothing been committed for too long?
  bool is_stuck(uint64_t committed);
  /// Throws the nearwarp::Error that says so.
  [[noreturn]] void fail_stuck();
  /// Core cycles so far.
  uint64_t cycles() const { return control_.next / system_.core_period; }
  /// Have all launches ended? What they have sent may still be on its way.
  bool have_launches_ended();
  /// The core cycle at which the last launch ended of those that have.
  uint64_t cycles_of_launches();

  /// Warp-instructions that the run will commit, if nothing stops it.
  uint64_t total_instructions() const;
  /// Has all been taken of a part that ends inside a launch?
  bool is_part_over() const { return part_.has_value() && part_->is_over(); }
  /// The tick at which take_results() wants to be called next; kNever: not yet known, or no more.
  Tick next_look() { return part_.has_value() ? part_->next_look(system_) : kNever; }
  /// PartWatch::windows_apart(), if the run is of a part.
  uint64_t windows_apart(Tick window) {
    return part_.has_value() ? part_->windows_apart(system_, window) : ~uint64_t{0};
  }
  /// The run stands there: keep what the part's results begin or end with.
  void take_results();

  /// After Stop::kEnded (throws nearwarp::Error if the machine is deadlocked or something got lost)
  /// or Stop::kLimit.
  report::RunResult finish();
  /// After any other stop: what there is.
  report::RunResult interrupted();
  /// Results so far of a run that stands at that core cycle and goes on.
  report::RunResult so_far(uint64_t cycle);

 private:
  System lay_out();
  report::RunResult result(std::string partial_reason);
  report::RunResult counted(uint64_t now_cycle);
  double wall_seconds() const;  ///< since the run has begun
  report::RunResult part_of(const report::RunResult& all) const;
  uint64_t recorded(uint64_t committed) const;
  report::LaunchesReport part_report(const PartPiece& piece) const;
  void limit_until_measured(Tick from, uint64_t committed);
  std::string checkpoint_bytes();
  void restore(std::string_view bytes);

  ReplayJob what_;
  ImageTables image_;
  MechanismRuns mechanisms_;
  System system_;
  std::optional<PartWatch> part_;
  uint32_t warmed_by_ = 0;                ///< launches whose traces have filled the caches
  std::vector<report::RunResult> taken_;  ///< by moment of the part
  Tick window_ticks_ = 0;
  kernels::RunControl control_;
  std::chrono::steady_clock::time_point begun_, saved_;
  Tick end_ = kNever;      ///< run.max_cycles
  bool measured_ = false;  ///< Recording::measured_warp_instructions have been committed
  uint64_t last_committed_ = 0, last_commit_cycle_ = 0;
};

}  // namespace nearwarp::sim
