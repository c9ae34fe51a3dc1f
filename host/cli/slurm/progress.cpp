// How far jobs are: a bar on a terminal, a line now and then elsewhere.
#include "host/cli/slurm/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace nearwarp::cli {
namespace {

constexpr auto kFirstLine = std::chrono::seconds(10);
constexpr auto kNextLine = std::chrono::seconds(60);

}  // namespace

SlurmProgress::SlurmProgress()
    : terminal_(isatty(STDERR_FILENO) != 0), bar_("", "points"), next_(Clock::now() + kFirstLine) {}

void SlurmProgress::update(size_t done, size_t points, const std::string& jobs) {
  if (!first_.has_value()) first_ = done;
  if (terminal_) {
    // The bar shows what was left then, so that the remaining time is right.
    bar_.set_label(*first_ == 0 ? jobs : fmt::format("{}/{} points, {}", done, points, jobs));
    bar_.update(done - *first_, points - *first_);
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kNextLine;
  tell(fmt::format("{} of {} points, {}", done, points, jobs));
}

void SlurmProgress::tell(const std::string& text) {
  wipe();
  std::fprintf(stderr, "nearwarp: %s\n", text.c_str());
}

}  // namespace nearwarp::cli
