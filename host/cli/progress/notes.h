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
  void tell(const std::string& message);
  /// Make room for others who write to standard error.
  void wipe() {
    if (bar_.has_value()) bar_->wipe();
  }
  /// Draws, and says whether to go on: no interrupt has come.
  bool progress(const std::string& what, uint64_t done, uint64_t total, const char* unit);

  /// Draws, and asks whether to go on; it outlives the function.
  std::function<bool(const Activity&)> progress_function();
  /// Options with these.
  ProgramOptions program_options();

 private:
  std::optional<ProgressBar> bar_;
  std::string what_;  ///< the bar is of
};

}  // namespace nearwarp::cli
