// Sweeps: all combinations of programs, machines, policies and values of keys; resumable, and in
// parts.
#pragma once

#include <nearwarp/failure.h>
#include <nearwarp/program.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nearwarp {

struct SweepDefinition {
  std::vector<std::string> programs;     ///< as Program::load() takes them
  std::string size = "small";            ///< of those that are workloads
  std::vector<std::string> machines;     ///< names or paths
  std::vector<std::string> policies;     ///< names or paths; speed-ups are over the first one
  std::vector<std::string> values = {};  ///< values of keys of machines or policies, "KEY=A,B,..."
  uint32_t max_repeats = 0;              ///< as ProgramOptions
  std::string launches = {}, sample = {};  ///< as BatchOptions
  bool cold_caches = false;
};

/// A point of a sweep.
struct SweepPoint {
  size_t index = 0;                 ///< among the sweep's points
  std::string program, size;        ///< `size`: of workloads; else empty
  std::string machine, policy;      ///< as in results
  std::vector<std::string> values;  ///< "key=value" of each of the sweep's keys
  std::string id;     ///< 32 hexadecimal digits, also in the point's line in a file of results
  std::string error;  ///< why it cannot be run; empty: it can
};

/// The progress of a sweep, counting only the points that are to be run now.
struct SweepProgress {
  size_t points_done = 0, points = 0;
  /// Programs that have not been executed yet are taken to be as long as the mean of the others.
  uint64_t warp_instructions_done = 0, warp_instructions = 0;
  /// Seconds of one thread of the host: measured for points that are done; for others, those of the
  /// points that have most in common with them.
  double cost_done = 0, cost = 0;
};

struct SweepOptions {
  /// A file to which results are appended, a line of JSON as each point ends, or a folder (with a
  /// "/" at its end, unless it is there) for such a file. Points that are in it are not run again.
  std::string out;
  std::string csv = {};     ///< a file for a row per point; empty: none
  std::string part = {};    ///< "i/n": part i of n, which are joined when a whole in a folder runs
  bool retry = false;       ///< points that failed run again
  bool only_count = false;  ///< nothing is run
  unsigned threads = 0;     ///< from here on as BatchOptions
  std::string backend = "cpu";
  int device = 0;
  bool locate_fault = false;
  std::string checkpoints = {};
  std::string cache = {};  ///< as ProgramOptions
  /// Asked some times a second; returns false to stop.
  std::function<bool(const SweepProgress&)> progress = {};
  /// Asked in the same way while a program is executed or read.
  std::function<bool(const Activity&)> program = {};
  /// Told of each line that has been written to the file, a point's result or failure
  /// (docs/sweep.md); one at a time, from any thread.
  std::function<void(const std::string&)> finished = {};
  std::function<void(const std::string&)> tell = {};  ///< as BatchOptions
};

struct SweepOutcome {
  size_t points = 0;          ///< points of the part
  size_t already_there = 0;   ///< points that were in the file before
  size_t finished = 0;        ///< points that were run now, to their end
  size_t failed = 0;          ///< points in the file that failed
  std::string first_failure;  ///< the first of these, and why it failed; empty: none
  bool stopped = false;       ///< progress() stopped the sweep: points are left
  std::string file;           ///< path of the file with the results
  std::string table;          ///< speed-ups as text
};

class NEARWARP_API Sweep {
 public:
  /// Checks the values of each key with the first ones of the others, and more points where that
  /// does not do; with launches or sample, all. `progress` is told how many of those have been
  /// checked, and stops by returning false. A combination of keys that a rule forbids is the
  /// failure of its points alone.
  static Expected<Sweep> plan(const SweepDefinition& definition,
                              const std::function<bool(uint64_t, uint64_t)>& progress = {});
  size_t points() const;
  /// A point by its index; a failure if there are not so many.
  Expected<SweepPoint> point(size_t index) const;
  /// Runs what is not in the file yet. The failure of a point is its result.
  Expected<SweepOutcome> run(const SweepOptions& options) const;

  struct State;

 private:
  friend struct Access;
  std::shared_ptr<const State> state_;
};

/// Checks the options without running anything.
NEARWARP_API Expected<Done> check(const SweepOptions& options);

}  // namespace nearwarp
