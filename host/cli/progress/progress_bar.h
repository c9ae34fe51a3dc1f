// The progress of long work: a bar on a terminal; elsewhere a line now and then, where that is
// wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "host/api/time_left.h"

namespace nearwarp::cli {

/// A line of at most `width` columns: label, bar, share done, speed and, if it is known, the
/// remaining time. `total` 0 means that the end is not known. `unit`: if it ends with "/s", that of
/// the speed, in millions per second; else the things that are done, of which the line gives the
/// number.
std::string progress_line(const std::string& label, uint64_t done, uint64_t total, double seconds,
                          std::optional<double> left, size_t width,
                          const std::string& unit = "Mwi/s");

/// The end of such a line: share done, in at least `share_width` digits, speed and remaining time.
std::string progress_words(uint64_t done, uint64_t total, double seconds,
                           std::optional<double> left, const std::string& unit = "Mwi/s",
                           int share_width = 0);

/// A duration as "m:ss" or "h:mm:ss".
std::string duration_text(double seconds);

/// A bar on standard error, if that is a terminal; work that takes less than a second has none. Not
/// thread-safe.
class ProgressBar {
 public:
  /// When lines are due if standard error is no terminal: a first one, then one after `each` (0:
  /// none).
  struct Lines {
    std::chrono::seconds first, each;
  };
  explicit ProgressBar(std::string label, std::string unit = "Mwi/s", Lines lines = {});
  ~ProgressBar();  ///< erases the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of `total` warp-instructions, or of what the unit counts; cheap if it is not yet time
  /// to draw.
  void update(uint64_t done, uint64_t total);
  /// Updates with the caller's estimate of the seconds that are left; empty: it has none.
  void update(uint64_t done, uint64_t total, std::optional<double> left);
  /// Changes the label, from the next update on.
  void set_label(std::string label) { label_ = std::move(label); }
  /// Whether a line is due now. If so, the next one is due lines.each later.
  bool line_is_due();
  /// Prints a line that stays: "nearwarp: TEXT".
  void tell(const std::string& text);
  /// Erases the bar, to make room for other text on standard error; the next update draws it again.
  void wipe();
  double seconds() const {  ///< seconds since construction
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_, unit_;
  bool terminal_;
  Lines lines_;
  Clock::time_point begin_, next_, next_sample_, next_line_;
  TimeLeft left_;
  size_t drawn_ = 0;  ///< columns of the terminal that the bar fills
};

}  // namespace nearwarp::cli
