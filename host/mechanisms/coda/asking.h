// A study of traces asks some times a second whether to go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/core/error.h"

namespace nearwarp::coda {

/// Asks `progress(done, total)`, unless it is empty; done: launches. Throws nearwarp::Interrupted
/// once it returns false.
class Asking {
 public:
  Asking(std::function<bool(uint64_t, uint64_t)> progress, uint64_t total)
      : progress_(std::move(progress)), total_(total) {}

  /// So many launches have been studied.
  void done(uint64_t launches) {
    done_ = launches;
    ask();
  }
  /// For places between two warps; empty if nobody is asked.
  std::function<void()> pause() {
    if (!progress_) return {};
    return [this] {
      if (Clock::now() >= next_) ask();
    };
  }

 private:
  using Clock = std::chrono::steady_clock;

  void ask() {
    if (progress_ && !progress_(done_, total_))
      throw Interrupted("interrupted while traces were studied");
    next_ = Clock::now() + std::chrono::milliseconds(100);
  }

  std::function<bool(uint64_t, uint64_t)> progress_;
  uint64_t total_, done_ = 0;
  Clock::time_point next_;
};

}  // namespace nearwarp::coda
