// Many runs side by side, on threads or on a GPU.
#pragma once

#include <nearwarp/configuration.h>
#include <nearwarp/failure.h>
#include <nearwarp/program.h>
#include <nearwarp/result.h>
#include <nearwarp/simulation.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nearwarp {

struct Point {
  Program program;
  Machine machine;
  Policy policy;
};

/// A timeline of what happened when, in a file for ui.perfetto.dev (docs/timeline.md).
struct TimelineOptions {
  std::string path;
  uint64_t from = 0, to = ~uint64_t{0};  ///< core cycles that are shown
  uint64_t interval = 0;  ///< core cycles from sample to sample; 0: 1000, longer as the file grows
};

/// GPUs that backend "cuda" finds; a failure says why there are none.
NEARWARP_API Expected<int> cuda_devices();

struct BatchOptions {
  unsigned threads = 0;         ///< 0: one for each processor
  std::string backend = "cpu";  ///< or "cuda"
  int device = 0;               ///< with "cuda"
  bool locate_fault = false;    ///< with "cuda": a GPU's failure is looked for (slow)
  /// A folder for the points' states, from which those that were stopped go on; it is empty again
  /// when all have ended. Empty: none.
  std::string checkpoints = {};
  /// The part of each program that is simulated, as with these options of `nearwarp run`
  /// (docs/launches.md): launches "I..J[:K]", or "parallel[@CORES|:K[:PARTS]]"; a sample
  /// "ERROR[:[K][:SEED]]" in percent. One of them, on the CPU; empty: all of it, in one go, as
  /// always under policies whose parts cannot be simulated by themselves.
  std::string launches = {}, sample = {};
  bool cold_caches = false;  ///< with these: parts begin with empty caches
  // These are for one point, on the CPU and from its beginning:
  std::optional<TimelineOptions> timeline = {};
  std::string follow = {};  ///< a warp, "KERNEL:WARP" or "KERNEL#LAUNCH:WARP", its N-th request,
                            ///< "KERNEL:WARP/N", or all for a line, "0xADDRESS": Result::followed
  bool time_left = false;   ///< Progress::seconds_left is wanted; reads all traces once
  /// Told of each point that has ended, by its place, and asked some times a second
  /// (Progress::cycles is 0) whether to go on; both one at a time, from any thread.
  std::function<void(size_t, const Expected<Result>&)> finished = {};
  std::function<bool(const Progress&)> progress = {};
  /// On the CPU: shown each point some times a second, and when it is over, by the thread that
  /// steps it; without Result::json.
  std::function<void(size_t, const Result&, bool over)> look = {};
  /// Told what is worth knowing and no failure: what was not sampled, and why.
  std::function<void(const std::string&)> tell = {};
};

/// Says what is wrong with the options, as far as is known before there are points.
NEARWARP_API Expected<Done> check(const BatchOptions& options);

/// Simulates all of them side by side. Results in their order: of a point that was not begun,
/// because progress() stopped the batch, a failure that says so.
NEARWARP_API std::vector<Expected<Result>> run_all(std::span<const Point> points,
                                                   const BatchOptions& options = {});

}  // namespace nearwarp
