// Notes and a progress bar that a command writes to standard error while it works.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/progress/progress_bar.h"

namespace nearwarp::cli {

class Notes {
 public:
  /// Prints a line that stays, with the options' names in place of the library's.
  void tell(const std::string& message);
  /// Erases the bar, to make room for other text on standard error.
  void wipe() {
    if (bar_.has_value()) bar_->wipe();
  }
  /// Shows how much of `what` is done. Returns whether to go on: false after an interrupt.
  bool progress(const std::string& what, uint64_t done, uint64_t total, const char* unit);

  /// A function that calls progress(). The Notes must outlive it.
  std::function<bool(const Activity&)> progress_function();
  /// Options whose functions call tell() and progress(). The Notes must outlive them.
  ProgramOptions program_options();

 private:
  std::optional<ProgressBar> bar_;
  std::string what_;  ///< the work whose progress the bar shows
};

}  // namespace nearwarp::cli
