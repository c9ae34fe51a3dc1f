// The progress of long work, as a bar on a terminal.
#include "host/cli/progress/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace nearwarp::cli {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kRedraw = std::chrono::milliseconds(200);
constexpr auto kSample = std::chrono::milliseconds(50);

size_t terminal_width() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<uint64_t>(std::llround(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

namespace {

double share_of(uint64_t done, uint64_t total) {
  return std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}
/// The speed if `unit` is one, else how many things are done.
std::string pace_words(uint64_t done, uint64_t total, double seconds, const std::string& unit) {
  if (!unit.ends_with("/s")) return fmt::format("{} of {} {}", done, total, unit);
  const double speed = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  return fmt::format("{:.1f} {}", speed / 1e6, unit);
}

/// How much is done, where the end is not known. `unit`: a speed, such as "Mwi/s" or "MB/s".
std::string amount_words(uint64_t done, const std::string& unit) {
  return fmt::format("{:.1f} {}", static_cast<double>(done) / 1e6,
                     unit == "Mwi/s" ? "M warp-instructions" : unit.substr(0, unit.size() - 2));
}

}  // namespace

std::string progress_words(uint64_t done, uint64_t total, double seconds,
                           std::optional<double> left, const std::string& unit, int share_width) {
  const std::string pace = pace_words(done, total, seconds, unit);
  if (total == 0)
    return unit.ends_with("/s") ? fmt::format("{}, {}", amount_words(done, unit), pace)
                                : fmt::format("{} {}", done, unit);
  std::string words = fmt::format("{:{}.0f} %, {}", 100 * share_of(done, total), share_width, pace);
  if (left.has_value()) words += ", " + duration_text(*left) + " left";
  return words;
}

std::string progress_line(const std::string& label, uint64_t done, uint64_t total, double seconds,
                          std::optional<double> left, size_t width, const std::string& unit) {
  const std::string tail = " " + progress_words(done, total, seconds, left, unit, 3);
  const size_t used = label.size() + tail.size() + 3;  // a blank and the brackets
  if (total == 0 || used + 10 > width) return (label + tail).substr(0, width);
  const size_t cells = std::min<size_t>(width - used, 40);
  const auto full = static_cast<size_t>(share_of(done, total) * static_cast<double>(cells));
  std::string bar(full, '#');
  bar.append(cells - full, '.');
  return fmt::format("{} [{}]{}", label, bar, tail);
}

ProgressBar::ProgressBar(std::string label, std::string unit, Lines lines)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      terminal_(isatty(STDERR_FILENO) != 0),
      lines_(lines),
      begin_(Clock::now()),
      next_(begin_ + kPatience),
      next_sample_(begin_),
      next_line_(begin_ + lines.first) {}

ProgressBar::~ProgressBar() { wipe(); }

void ProgressBar::wipe() {
  if (drawn_ == 0) return;
  std::fprintf(stderr, "\r%*s\r", static_cast<int>(drawn_), "");
  std::fflush(stderr);
  drawn_ = 0;
}

bool ProgressBar::line_is_due() {
  if (terminal_ || lines_.each.count() == 0) return false;
  const Clock::time_point now = Clock::now();
  if (now < next_line_) return false;
  next_line_ = now + lines_.each;
  return true;
}

void ProgressBar::tell(const std::string& text) {
  wipe();
  std::fprintf(stderr, "nearwarp: %s\n", text.c_str());
}

void ProgressBar::update(uint64_t done, uint64_t total) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_sample_) return;
  next_sample_ = now + kSample;
  left_.update(seconds(), done, total);
  update(done, total, left_.seconds());
}

void ProgressBar::update(uint64_t done, uint64_t total, std::optional<double> left) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kRedraw;
  // The last column stays free: some terminals wrap there.
  const std::string line = progress_line(label_, done, total, seconds(), left,
                                         std::max<size_t>(terminal_width(), 2) - 1, unit_);
  const size_t rest = drawn_ > line.size() ? drawn_ - line.size() : 0;
  std::fprintf(stderr, "\r%s%*s", line.c_str(), static_cast<int>(rest), "");
  std::fflush(stderr);
  drawn_ = line.size();
}

}  // namespace nearwarp::cli
