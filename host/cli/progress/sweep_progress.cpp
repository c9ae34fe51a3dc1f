// The progress of a sweep, as a bar and as lines.
#include "host/cli/progress/sweep_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/cli/interrupt.h"

namespace nearwarp::cli {
namespace {

/// Below this share of all costs there is no estimate.
constexpr double kLeastShare = 0.05;

std::string label(const SweepProgress& progress) {
  return fmt::format("{}/{} points", progress.points_done, progress.points);
}

}  // namespace

std::string sweep_progress_text(const SweepProgress& progress, double seconds,
                                std::optional<double> left) {
  std::string text = "sweep: " + label(progress);
  if (progress.warp_instructions != 0)
    text += ", " + progress_words(progress.warp_instructions_done, progress.warp_instructions,
                                  seconds, left);
  return text;
}

std::optional<double> sweep_seconds_left(const SweepProgress& progress, double seconds) {
  if (progress.cost_done <= kLeastShare * progress.cost) return std::nullopt;
  const double left = std::max(0.0, progress.cost - progress.cost_done);
  return seconds * left / progress.cost_done;
}

void SweepDisplay::show(const SweepProgress& progress) {
  const double seconds = bar_.seconds();
  const std::optional<double> left = sweep_seconds_left(progress, seconds);
  bar_.set_label(label(progress));
  bar_.update(progress.warp_instructions_done, progress.warp_instructions, left);
  if (bar_.line_is_due()) bar_.tell(sweep_progress_text(progress, seconds, left));
}

void SweepDisplay::attach_to(SweepOptions& how) {
  how.tell = [this](const std::string& message) {
    bar_.wipe();
    notes_.tell(message);
  };
  how.program = [this](const Activity& a) {
    bar_.wipe();
    // An activity without a unit is an application, which prints where the bar would be.
    return *a.unit == '\0' ? !interrupted() : notes_.progress(a.what, a.done, a.total, a.unit);
  };
  how.progress = [this](const SweepProgress& progress) {
    notes_.wipe();
    show(progress);
    return !interrupted();
  };
}

}  // namespace nearwarp::cli
