// How far jobs are.
#include "host/cli/slurm/progress.h"

#include <fmt/format.h>

#include <chrono>

namespace nearwarp::cli {
namespace {

constexpr ProgressBar::Lines kLines = {std::chrono::seconds(10), std::chrono::seconds(60)};

}  // namespace

SlurmProgress::SlurmProgress() : bar_("", "points", kLines) {}

void SlurmProgress::update(size_t done, size_t points, const std::string& jobs) {
  if (!first_.has_value()) first_ = done;
  // The bar shows what was left then, so that the remaining time is right.
  bar_.set_label(*first_ == 0 ? jobs : fmt::format("{}/{} points, {}", done, points, jobs));
  bar_.update(done - *first_, points - *first_);
  if (bar_.line_is_due()) tell(fmt::format("{} of {} points, {}", done, points, jobs));
}

}  // namespace nearwarp::cli
