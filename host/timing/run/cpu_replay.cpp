// Replays a recorded program on a machine under a policy, on the CPU.
#include "host/timing/run/cpu_replay.h"

#include <algorithm>
#include <chrono>

#include "host/timing/run/checkpoint.h"
#include "host/timing/run/collect.h"
#include "host/timing/run/replay.h"
#include "host/timing/run/trace_feed.h"

namespace nearwarp::sim {

namespace {

using Clock = std::chrono::steady_clock;
using kernels::Stop;

/// Windows between two looks at the clock.
constexpr uint64_t kSliceWindows = 1024;

/// Steps the run until it ends; returns false if `options.progress` has stopped it.
bool step(Replay& run, const SimOptions& options) {
  const kernels::SafeTimePlan plan = run.lengthen_windows();
  kernels::RunState state = run.state();
  TraceFeed feed(run.recording(), run.image(), run.dispatch_margin(),
                 run.is_lengthened() ? run.window_cycles() : 0);
  feed.resume(thread_blocks_on(run));
  kernels::CpuExecutor executor(
      run.system().components(),
      {options.threads, options.order_seed, options.family, options.lane_order, plan});
  Clock::time_point reported = Clock::now();
  uint64_t look_at = kSliceWindows;  // windows
  Tick limit = state.control.limit;
  const Tick longest = state.control.longest;
  const auto next_look = [&] {
    return options.watcher == nullptr ? kNever : options.watcher->next_look();
  };
  while (true) {
    run.serve();
    feed.serve(run.system(), state);
    state.control.limit = std::min({limit, next_look(), run.next_look()});
    const uint64_t apart = run.windows_apart(longest);
    state.control.longest = apart == 0 ? std::min(longest, run.system().window) : longest;
    executor.run(state,
                 std::min(look_at - state.control.windows, apart == 0 ? ~uint64_t{0} : apart));
    state.control.limit = limit;
    run.control() = state.control;
    if (state.control.stop == Stop::kEnded) return true;
    if (state.control.stop == Stop::kLimit) {
      if (state.control.next >= limit) {
        if (run.is_over(committed_instructions(run.system()))) return true;
        limit = run.control().limit;
      } else if (state.control.next >= run.next_look()) {
        run.take_results();
      } else {
        options.watcher->look(run);
      }
    }
    if (state.control.windows < look_at) continue;
    look_at += kSliceWindows;
    const uint64_t committed = committed_instructions(run.system());
    if (run.is_stuck(committed)) run.fail_stuck();
    if (run.is_time_to_save()) {
      feed.serve(run.system(), state);
      run.save();
    }
    const Clock::time_point now = Clock::now();
    if (!options.progress || now - reported < options.progress_interval) continue;
    reported = now;
    if (options.progress({run.cycles(), committed, run.total_instructions()})) continue;
    feed.serve(run.system(), state);
    return false;
  }
}

}  // namespace

report::RunResult replay_on_cpu(const runtime::Recording& recording,
                                const config::MachineConfig& machine,
                                const config::PolicyConfig& policy, const SimOptions& options) {
  Replay run({&recording, &machine, &policy, options.checkpoint, options.shape, options.mechanisms,
              options.watcher, options.part, options.learnt},
             options.window_ticks);
  run.begin();
  if (options.watcher != nullptr) options.watcher->begin(run);
  const bool ended = step(run, options);
  run.save();
  report::RunResult result = ended ? run.finish() : run.interrupted();
  if (options.watcher != nullptr) options.watcher->end(run, result);
  return result;
}

}  // namespace nearwarp::sim
