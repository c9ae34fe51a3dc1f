// The progress of a sweep, as a bar and as lines.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/progress/notes.h"
#include "host/cli/progress/progress_bar.h"

namespace nearwarp::cli {

/// A line for logs, without a bar: points, share, speed and, if it is known, remaining time.
std::string sweep_progress_text(const SweepProgress& progress, double seconds,
                                std::optional<double> left);

/// The seconds that are left, in proportion to the costs of what is done and of what is left; empty
/// while too little is done. `seconds`: since the sweep began.
std::optional<double> sweep_seconds_left(const SweepProgress& progress, double seconds);

/// The display of a sweep that begins now: a bar or lines, notes, and the progress of a program
/// that is executed for the sweep.
class SweepDisplay {
 public:
  /// Makes sweeps with these options report to this display, and stop after an interrupt. The
  /// display must outlive them.
  void attach_to(SweepOptions& how);

 private:
  void show(const SweepProgress& progress);

  ProgressBar bar_{"sweep", "Mwi/s", {std::chrono::seconds(10), std::chrono::seconds(30)}};
  Notes notes_;
};

}  // namespace nearwarp::cli
