// What a command says on standard error while it works: notes, and a progress bar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/progress_bar.h"

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

  /// Options with these; it outlives them.
  ProgramOptions program_options();

 private:
  std::optional<ProgressBar> bar_;
  std::string what_;  ///< the bar is of
};

}  // namespace nearwarp::cli
