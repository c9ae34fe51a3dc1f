// How far a sweep is, for a progress bar and for lines.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/progress/notes.h"
#include "host/cli/progress/progress_bar.h"

namespace nearwarp::cli {

/// One line without a bar, for logs: points, share, speed and, if it is known, remaining time.
std::string sweep_progress_text(const SweepProgress& progress, double seconds,
                                std::optional<double> left);

/// The rest takes as long as what is done, by what both cost; nothing as long as there is too
/// little to go by. `seconds`: since the sweep began.
std::optional<double> sweep_seconds_left(const SweepProgress& progress, double seconds);

/// The display of a sweep that begins now: a bar or lines, notes, and how far a program is that is
/// executed for it.
class SweepDisplay {
 public:
  /// Has the sweep tell it everything, and stop after an interrupt; it outlives the sweep.
  void attach_to(SweepOptions& how);

 private:
  void show(const SweepProgress& progress);

  ProgressBar bar_{"sweep", "Mwi/s", {std::chrono::seconds(10), std::chrono::seconds(30)}};
  Notes notes_;
};

}  // namespace nearwarp::cli
