// Shows the result so far of a run in progress, twice a second of the host's time.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "host/timing/run/replay.h"

namespace nearwarp {

class Looker final : public sim::RunWatcher {
 public:
  /// `show` is called with the result so far and whether the run is over, by the thread that steps
  /// the run.
  using Show = std::function<void(const report::RunResult&, bool over)>;
  explicit Looker(Show show) : show_(std::move(show)) {}

  void begin(sim::Replay& run) override {
    look_again(run);
    due_ = Clock::now();
  }
  Tick next_look() const override { return next_; }
  void look(sim::Replay& run) override {
    look_again(run);
    if (Clock::now() < due_) return;
    show_(run.so_far(run.cycles()), false);
    due_ = Clock::now() + kApart;
  }
  void end(sim::Replay&, const report::RunResult& result) override { show_(result, true); }

 private:
  using Clock = std::chrono::steady_clock;
  /// Host time between two calls of show_, and cycles of the machine between two looks at the
  /// host's clock.
  static constexpr auto kApart = std::chrono::milliseconds(500);
  static constexpr uint64_t kLookCycles = 2000;

  /// Sets the next look by the present tick, not by the last look's: it may be far beyond that if
  /// the run resumes from a checkpoint, or if nothing has happened for long.
  void look_again(sim::Replay& run) {
    next_ = run.control().next + run.system().core_period * kLookCycles;
  }

  Show show_;
  Tick next_ = 0;
  Clock::time_point due_;
};

}  // namespace nearwarp
