// How far something is that takes long: a bar on a terminal, elsewhere, where that is wanted, a
// line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "host/api/time_left.h"

namespace nearwarp::cli {

/// One line of at most `width` columns: label, bar, share done, speed and, if it is known, the
/// remaining time. `total` 0 means that the end is not known. `unit`: of the speed, for a million a
/// second; one that is no speed is a thing of which there are few, and the line says how many are
/// done.
std::string progress_line(const std::string& label, uint64_t done, uint64_t total, double seconds,
                          std::optional<double> left, size_t width,
                          const std::string& unit = "Mwi/s");

/// The words of a line: share done, in at least `share_width` digits, speed and remaining time.
std::string progress_words(uint64_t done, uint64_t total, double seconds,
                           std::optional<double> left, const std::string& unit = "Mwi/s",
                           int share_width = 0);

/// "m:ss" or "h:mm:ss".
std::string duration_text(double seconds);

/// Draws on standard error, if that is a terminal and a second has gone by. Not thread-safe.
class ProgressBar {
 public:
  /// Lines for standard error that is no terminal: the first after so many seconds, and then one
  /// every so many; 0: none.
  struct Lines {
    std::chrono::seconds first, each;
  };
  explicit ProgressBar(std::string label, std::string unit = "Mwi/s", Lines lines = {});
  ~ProgressBar();  ///< wipes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `done` of `total` warp-instructions, or of what the unit counts; cheap if it is not yet time
  /// to draw.
  void update(uint64_t done, uint64_t total);
  /// Updates where somebody else knows how many seconds are left, or that nobody does.
  void update(uint64_t done, uint64_t total, std::optional<double> left);
  /// From the next update on.
  void set_label(std::string label) { label_ = std::move(label); }
  /// Is it time for a line? Then the next one is due later.
  bool line_is_due();
  /// A line that stays: "nearwarp: TEXT".
  void tell(const std::string& text);
  /// Make room for others who write to standard error; the next update draws again.
  void wipe();
  double seconds() const {  ///< since it was made
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_, unit_;
  bool terminal_;
  Lines lines_;
  Clock::time_point begin_, next_, next_sample_, next_line_;
  TimeLeft left_;
  size_t drawn_ = 0;  ///< columns on the terminal
};

}  // namespace nearwarp::cli
