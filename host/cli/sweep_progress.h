// How far a sweep is: a bar on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/progress_bar.h"

namespace nearwarp::cli {

/// One line without a bar, for logs: points, share, speed and, if it is known, remaining time.
std::string sweep_progress_text(const SweepProgress& progress, double seconds,
                                std::optional<double> left);

/// The rest takes as long as what is done, by what both cost; nothing as long as there is too
/// little to go by. `seconds`: since the sweep began.
std::optional<double> sweep_seconds_left(const SweepProgress& progress, double seconds);

/// Writes to standard error. Not thread-safe.
class SweepBar {
 public:
  SweepBar();
  void update(const SweepProgress& progress);
  /// Make room for others who write there.
  void wipe() { bar_.wipe(); }

 private:
  using Clock = std::chrono::steady_clock;
  bool terminal_;
  ProgressBar bar_;
  Clock::time_point begin_, next_;
};

}  // namespace nearwarp::cli
