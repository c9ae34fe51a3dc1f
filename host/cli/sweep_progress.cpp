// How far a sweep is.
#include "host/cli/sweep_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace nearwarp::cli {
namespace {

constexpr ProgressBar::Lines kLines = {std::chrono::seconds(10), std::chrono::seconds(30)};
/// Before this share of all costs is spent nobody can say.
constexpr double kLeastShare = 0.05;

std::string label(const SweepProgress& progress) {
  return fmt::format("{}/{} points", progress.points_done, progress.points);
}

}  // namespace

std::string sweep_progress_text(const SweepProgress& progress, double seconds,
                                std::optional<double> left) {
  std::string text = "sweep: " + label(progress);
  if (progress.warp_instructions == 0) return text;
  const double share = std::min(1.0, static_cast<double>(progress.warp_instructions_done) /
                                         static_cast<double>(progress.warp_instructions));
  text += fmt::format(", {:.0f} %", 100 * share);
  if (seconds > 0) {
    text += fmt::format(", {:.1f} Mwi/s",
                        static_cast<double>(progress.warp_instructions_done) / seconds / 1e6);
  }
  if (left.has_value()) text += ", " + duration_text(*left) + " left";
  return text;
}

std::optional<double> sweep_seconds_left(const SweepProgress& progress, double seconds) {
  if (progress.cost_done <= kLeastShare * progress.cost) return std::nullopt;
  const double left = std::max(0.0, progress.cost - progress.cost_done);
  return seconds * left / progress.cost_done;
}

ProgressBar sweep_bar() { return ProgressBar("sweep", "Mwi/s", kLines); }

void show(const SweepProgress& progress, ProgressBar& bar) {
  const double seconds = bar.seconds();
  const std::optional<double> left = sweep_seconds_left(progress, seconds);
  bar.set_label(label(progress));
  bar.update(progress.warp_instructions_done, progress.warp_instructions, left);
  if (bar.line_is_due()) bar.tell(sweep_progress_text(progress, seconds, left));
}

}  // namespace nearwarp::cli
