// Counts what a recorded program executed.
#pragma once

#include <cstdint>
#include <functional>

#include "host/recording/recording.h"
#include "host/timing/report/profile.h"

namespace nearwarp::profile {

struct Options {
  uint32_t line_bytes = 128;  ///< a power of two, at least 32
  unsigned threads = 1;
  /// Called now and then, on the caller's thread, with the warp-instructions counted so far and
  /// those of the program; return false to stop.
  std::function<bool(uint64_t done, uint64_t total)> progress;
};

/// Counts with any number of threads. A trace chunk that several launches of a kernel have in
/// common is read once. Throws nearwarp::Error for malformed traces, Interrupted when stopped.
report::Profile count(const runtime::Recording& recording, const Options& options);

}  // namespace nearwarp::profile
