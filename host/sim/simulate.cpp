// Replays a recorded program on a machine under a policy.
#include "host/sim/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "host/core/error.h"
#include "host/sim/checks.h"
#include "host/sim/collect.h"
#include "host/sim/data_mapping.h"
#include "host/sim/system.h"
#include "host/sim/trace_feed.h"

namespace nearwarp::sim {

namespace {

using Clock = std::chrono::steady_clock;

class Run {
 public:
  Run(const runtime::Recording& recording, const config::MachineConfig& machine,
      const config::PolicyConfig& policy, const SimOptions& options)
      : recording_(recording),
        machine_(machine),
        options_(options),
        image_(build_image(recording, machine, policy, policy.mechanism == "tom")),
        mapping_(recording, machine, policy, image_),
        system_(build_system(machine, policy, image_, mapping_.plan())),
        feed_(recording, image_) {
    result_.workload = recording.name;
    result_.machine = machine.name;
    result_.policy = policy.name;
    result_.core_mhz = machine.clocks.core_mhz;
  }

  report::RunResult run() {
    const Clock::time_point begin = Clock::now();
    if (!image_.launches.empty()) loop();
    result_.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!result_.partial) {
      check_faults(system_);
      check_conservation(system_, machine_.sm.charge_moves ? recording_.warp_instructions : 0);
    }
    collect(recording_, image_, system_, last_tick_ / system_.core_period, result_);
    result_.mapping = mapping_.report(system_);
    return std::move(result_);
  }

 private:
  void loop() {
    frontend::FrontEndState* front_end = &system_.front_end();
    const uint32_t num_launches = image_.view().num_launches;
    const uint32_t margin = system_.ends.num_sms * machine_.sm.blocks;
    const Tick longest = options_.window_ticks == 0
                             ? system_.window
                             : std::min(options_.window_ticks, system_.window);
    kernels::CpuExecutor executor(system_.components,
                                  {options_.threads, options_.order_seed, options_.shuffle_lanes});
    sm::SystemView view;
    view.arena = system_.arena.base();
    view.image = image_.view();
    const Tick limit = machine_.run.max_cycles < kNever / system_.core_period
                           ? machine_.run.max_cycles * system_.core_period
                           : kNever;
    mapping_.begin(system_);
    uint32_t launch = kNoLaunch;
    Tick next = 0;
    for (uint64_t windows = 0;; ++windows) {
      // Feed traces; the model never waits for the host.
      if (front_end->launch != launch && front_end->launch < num_launches) {
        launch = front_end->launch;
        feed_.begin_launch(launch);
        view.trace = feed_.blocks();
      }
      const uint32_t next_block = front_end->running ? front_end->next_block : 0;
      feed_.ensure(next_block + margin);

      const Window window{next, std::min(next + longest, limit)};
      next = executor.step(view, window);
      last_tick_ = window.end;
      mapping_.watch(system_);

      const uint32_t* done = front_end->done_log.in(view.arena);
      for (uint32_t i = 0; i < front_end->num_done; ++i) feed_.block_done(done[i]);
      front_end->num_done = 0;

      if (next >= kNever) break;
      if (next >= limit) {
        last_tick_ = limit;  // nothing happens between the last window's end and there
        stop(fmt::format("run.max_cycles = {} reached", machine_.run.max_cycles));
        return;
      }
      if (windows % 1024 == 0 && !watch(next)) return;
    }
    if (front_end->launch < num_launches) {
      check_faults(system_);
      throw Error("the simulated machine is deadlocked: every component sleeps while work is left" +
                  describe_stall(system_) + "\nthis is a defect of the simulator");
    }
  }

  /// Hangs, progress, interruption. Returns false to stop.
  bool watch(Tick now) {
    const uint64_t cycles = now / system_.core_period;
    const uint64_t committed = committed_instructions(system_);
    if (committed != last_committed_) {
      last_committed_ = committed;
      last_commit_cycle_ = cycles;
    } else if (cycles - last_commit_cycle_ > machine_.run.no_progress_cycles) {
      throw Error(fmt::format("no instruction was committed for {} core cycles",
                              cycles - last_commit_cycle_) +
                  describe_stall(system_) + "\nraise run.no_progress_cycles if this is expected");
    }
    const Clock::time_point t = Clock::now();
    if (options_.progress && t - last_report_ > std::chrono::milliseconds(50)) {
      last_report_ = t;
      if (!options_.progress({cycles, committed, recording_.warp_instructions}))
        return stop("interrupted");
    }
    return true;
  }

  bool stop(std::string reason) {
    result_.partial = true;
    result_.partial_reason = std::move(reason);
    return false;
  }

  static constexpr uint32_t kNoLaunch = 0xffffffffu;
  const runtime::Recording& recording_;
  const config::MachineConfig& machine_;
  const SimOptions& options_;
  ImageTables image_;
  DataMapping mapping_;
  System system_;
  TraceFeed feed_;
  report::RunResult result_;
  Tick last_tick_ = 0;
  uint64_t last_committed_ = 0, last_commit_cycle_ = 0;
  Clock::time_point last_report_ = Clock::now();
};

}  // namespace

report::RunResult simulate(const runtime::Recording& recording,
                           const config::MachineConfig& machine, const config::PolicyConfig& policy,
                           const SimOptions& options) {
  return Run(recording, machine, policy, options).run();
}

}  // namespace nearwarp::sim
