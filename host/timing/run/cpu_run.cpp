// Steps a run on the CPU, and serves it between windows.
#include "host/timing/run/cpu_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "host/core/error.h"
#include "host/timing/run/checkpoint.h"

namespace nearwarp::sim {

namespace {

using Clock = std::chrono::steady_clock;
using kernels::Stop;

/// Windows between two looks at the clock.
constexpr uint64_t kSliceWindows = 1024;

/// Begin a run, for the list of CpuRun's members, and tell its watcher.
Replay& begun(Replay& run, RunWatcher* watcher) {
  run.begin();
  if (watcher != nullptr) watcher->begin(run);
  return run;
}

}  // namespace

CpuRun::CpuRun(const ReplayJob& what, SimOptions options)
    : options_(std::move(options)),
      watcher_(what.watcher),
      run_(what, options_.window_ticks),
      plan_(begun(run_, watcher_).lengthen_windows()),
      state_(run_.state()),
      feed_(run_.recording(), run_.image(), run_.dispatch_margin(),
            run_.is_lengthened() ? run_.window_cycles() : 0),
      limit_(state_.control.limit),
      longest_(state_.control.longest),
      look_at_(kSliceWindows),
      cycle_(cycle_of(state_.control.last)),
      reported_(Clock::now()) {
  step_with(options_.threads);
  feed_.resume(thread_blocks_on(run_));
}

void CpuRun::step_with(unsigned threads) {
  if (executor_.has_value() && threads == options_.threads) return;
  options_.threads = threads;
  try {
    executor_.emplace(
        run_.system().components(),
        kernels::ExecutorOptions{threads, options_.order_seed, options_.family, plan_});
  } catch (const std::system_error& e) {
    throw Error(
        fmt::format("cannot start {} threads: {} - use fewer", threads, e.code().message()));
  }
}

uint64_t CpuRun::cycle_of(Tick at) {
  const uint64_t cycle = at / run_.system().core_period;
  return run_.have_launches_ended() ? std::min(cycle, run_.cycles_of_launches()) : cycle;
}

bool CpuRun::is_there(const StopAt& until) {
  return (until.tick != kNever && state_.control.next >= until.tick) ||
         launches_ended() >= until.launches;
}

Stepped CpuRun::step(StopAt until) {
  const auto next_look = [&] { return watcher_ == nullptr ? kNever : watcher_->next_look(); };
  while (!ended_) {
    if (run_.have_launches_ended()) {
      // The last launch has ended the run's cycles; only its packets are still on their way.
      until = {};
    } else if (is_there(until)) {
      // Nothing happens between the end of the last window and that tick.
      const Tick at = state_.control.next >= until.tick ? until.tick : state_.control.last;
      cycle_ = std::max(cycle_, at / run_.system().core_period);
      feed_.serve(run_.system(), state_);
      return Stepped::kThere;
    }
    run_.serve();
    feed_.serve(run_.system(), state_);
    state_.control.limit = std::min({limit_, until.tick, next_look(), run_.next_look()});
    uint64_t apart = run_.windows_apart(longest_);
    // To stop at a launch's end, launches are counted after each window, of the usual length.
    const bool by_window = until.launches != ~uint64_t{0};
    state_.control.longest =
        apart == 0 || by_window ? std::min(longest_, run_.system().window) : longest_;
    if (apart == 0) apart = ~uint64_t{0};
    if (by_window) apart = 1;
    executor_->run(state_, std::min(look_at_ - state_.control.windows, apart));
    state_.control.limit = limit_;
    run_.control() = state_.control;
    cycle_ = cycle_of(state_.control.last);
    if (state_.control.stop == Stop::kEnded) {
      ended_ = true;
    } else if (state_.control.stop == Stop::kLimit) {
      if (state_.control.next >= limit_) {
        ended_ = run_.is_over(committed_instructions(run_.system()));
        if (!ended_) limit_ = run_.control().limit;
      } else if (state_.control.next >= run_.next_look()) {
        // Several results may be due at one tick.
        do run_.take_results();
        while (run_.next_look() != kNever && state_.control.next >= run_.next_look());
        ended_ = run_.is_part_over();
      } else if (state_.control.next >= next_look()) {
        watcher_->look(run_);
      }
    }
    if (ended_ || state_.control.windows < look_at_) continue;
    look_at_ += kSliceWindows;
    const uint64_t committed = committed_instructions(run_.system());
    if (run_.is_stuck(committed)) run_.fail_stuck();
    if (run_.is_time_to_save()) save();
    if (options_.threads_now) step_with(options_.threads_now());
    const Clock::time_point now = Clock::now();
    if (!options_.progress || now - reported_ < options_.progress_interval) continue;
    reported_ = now;
    if (options_.progress(progress())) continue;
    feed_.serve(run_.system(), state_);
    return Stepped::kStopped;
  }
  return Stepped::kEnded;
}

uint64_t CpuRun::launches_ended() { return run_.system().front_end().dispatch.ended; }

Tick CpuRun::tick_of(uint64_t cycle) {
  const uint64_t period = run_.system().core_period;
  return cycle < kNever / period ? cycle * period : kNever;
}

Progress CpuRun::progress() {
  return {cycle_of(state_.control.next), committed_instructions(run_.system()),
          run_.total_instructions()};
}

report::RunResult CpuRun::so_far() { return run_.so_far(cycle_); }

void CpuRun::save() {
  feed_.serve(run_.system(), state_);
  run_.save();
}

report::RunResult CpuRun::end() {
  run_.save();
  report::RunResult result = ended_ ? run_.finish() : run_.interrupted();
  if (watcher_ != nullptr) watcher_->end(run_, result);
  return result;
}

}  // namespace nearwarp::sim
