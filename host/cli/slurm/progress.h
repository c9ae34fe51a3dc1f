// The progress of jobs: a bar on a terminal, elsewhere a line now and then.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "host/cli/progress/progress_bar.h"

namespace nearwarp::cli {

/// Writes to standard error. Not thread-safe.
class SlurmProgress {
 public:
  SlurmProgress();
  /// Shows that `done` of `points` are done; `jobs` is a text on the states of the jobs.
  void update(size_t done, size_t points, const std::string& jobs);
  /// Prints a line that stays.
  void tell(const std::string& text) { bar_.tell(text); }
  void wipe() { bar_.wipe(); }

 private:
  ProgressBar bar_;
  std::optional<size_t> first_;  ///< points that were done at the first update
};

}  // namespace nearwarp::cli
