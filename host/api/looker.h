// Shows how a run goes on, some times a second of the host's time.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "host/timing/run/replay.h"

namespace nearwarp {

class Looker final : public sim::RunWatcher {
 public:
  /// `show`: what there is so far, and whether the run is over; called by the thread that steps it.
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
  /// Between two samples, of the host's time; and between two looks at that, of the machine's.
  static constexpr auto kApart = std::chrono::milliseconds(500);
  static constexpr uint64_t kLookCycles = 2000;

  /// Where it stands is beyond what was asked for if it goes on from a checkpoint, or if nothing
  /// has happened for long.
  void look_again(sim::Replay& run) {
    next_ = run.control().next + run.system().core_period * kLookCycles;
  }

  Show show_;
  Tick next_ = 0;
  Clock::time_point due_;
};

}  // namespace nearwarp
