// Lays out the next systems of a batch on all processors, while the device steps others.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <span>

#include "host/core/workers.h"
#include "host/timing/run/replay.h"

namespace nearwarp::sim {

/// The runs of a batch's systems, in order, some of which are laid out in advance.
class ReplayQueue {
 public:
  ReplayQueue(std::span<const ReplayJob> systems, Tick window_ticks)
      : systems_(systems), window_ticks_(window_ticks), ahead_(processors()) {}

  /// Can next() return at once?
  bool is_ready() {
    lay_out();
    return !runs_.empty() &&
           runs_.front().wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  /// The run of the next system, which has begun. Requires that there is one. Throws the error of
  /// laying it out, and then goes on to the system after it.
  std::unique_ptr<Replay> next() {
    lay_out();
    std::future<std::unique_ptr<Replay>> run = std::move(runs_.front());
    runs_.pop_front();
    return run.get();
  }

 private:
  void lay_out() {
    while (begun_ < systems_.size() && runs_.size() < ahead_) {
      const ReplayJob& what = systems_[begun_++];
      runs_.push_back(std::async(std::launch::async, [&what, ticks = window_ticks_] {
        auto run = std::make_unique<Replay>(what, ticks);
        run->begin();
        return run;
      }));
    }
  }

  std::span<const ReplayJob> systems_;
  Tick window_ticks_;
  size_t ahead_, begun_ = 0;
  std::deque<std::future<std::unique_ptr<Replay>>> runs_;
};

}  // namespace nearwarp::sim
