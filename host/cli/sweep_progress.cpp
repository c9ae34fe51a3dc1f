// How far a sweep is: a bar on a terminal, a line now and then elsewhere.
#include "host/cli/sweep_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace nearwarp::cli {
namespace {

constexpr auto kFirstLine = std::chrono::seconds(10);
constexpr auto kNextLine = std::chrono::seconds(30);
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

SweepBar::SweepBar()
    : terminal_(isatty(STDERR_FILENO) != 0),
      bar_("sweep"),
      begin_(Clock::now()),
      next_(begin_ + kFirstLine) {}

void SweepBar::update(const SweepProgress& progress) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const std::optional<double> left = sweep_seconds_left(progress, seconds);
  if (terminal_) {
    bar_.set_label(label(progress));
    bar_.update(progress.warp_instructions_done, progress.warp_instructions, left);
    return;
  }
  if (now < next_) return;
  next_ = now + kNextLine;
  std::fprintf(stderr, "nearwarp: %s\n", sweep_progress_text(progress, seconds, left).c_str());
}

}  // namespace nearwarp::cli
