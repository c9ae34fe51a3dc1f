// How far jobs are: a bar on a terminal, a line now and then elsewhere.
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
  /// Points done of all; `jobs` says how the jobs do.
  void update(size_t done, size_t points, const std::string& jobs);
  /// A line that stays.
  void tell(const std::string& text) { bar_.tell(text); }
  void wipe() { bar_.wipe(); }

 private:
  ProgressBar bar_;
  std::optional<size_t> first_;  ///< points that were done at the first update
};

}  // namespace nearwarp::cli
