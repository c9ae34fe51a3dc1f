// How far a sweep is, for a progress bar and for lines.
#pragma once

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

/// A bar for a sweep that begins now; elsewhere lines.
ProgressBar sweep_bar();
/// Shows it there.
void show(const SweepProgress& progress, ProgressBar& bar);

}  // namespace nearwarp::cli
