// The progress of a study of traces, which its caller may stop.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "host/core/error.h"
#include "host/core/pace.h"

namespace nearwarp::coda {

/// Calls `progress(done, total)` after each launch, and some times a second within one, unless it
/// is empty. Throws nearwarp::Interrupted once it returns false.
class StudyProgress {
 public:
  /// `total`: launches that are studied.
  StudyProgress(std::function<bool(uint64_t, uint64_t)> progress, uint64_t total)
      : progress_(std::move(progress)), total_(total) {}

  /// `launches`: number of launches that have been studied.
  void done(uint64_t launches) {
    done_ = launches;
    ask();
  }
  /// A function to be called between two warps; empty if there is no progress function.
  std::function<void()> pause() {
    if (!progress_) return {};
    return [this] {
      if (pace_.is_due()) ask();
    };
  }

 private:
  void ask() const {
    if (progress_ && !progress_(done_, total_))
      throw Interrupted("interrupted while traces were studied");
  }

  std::function<bool(uint64_t, uint64_t)> progress_;
  uint64_t total_, done_ = 0;
  Pace pace_;
};

}  // namespace nearwarp::coda
