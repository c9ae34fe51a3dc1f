// Files of results are worked with here: say what differs between two, compare with what was
// measured on a device, join those of a sweep's parts.
#pragma once

#include <nearwarp/failure.h>
#include <nearwarp/result.h>
#include <nearwarp/texts.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace nearwarp {

/// A value of two runs.
struct NEARWARP_API ValueChange {
  std::string name, unit;
  double before = 0, after = 0;
  /// How much it matters: the change over the largest value of the same unit that the first run
  /// has, of what the name is of.
  double weight = 0;
  /// after / before - 1; infinite where `before` is 0.
  double relative() const;
};

/// Core cycles that one run takes more than the other, or fewer (less than 0), where they are.
struct CycleChange {
  std::string what;  ///< a kernel, or what SMs did
  int64_t cycles = 0;
  std::vector<CycleChange> parts = {};  ///< add up to `cycles`; empty if they are not known
};

/// The differences of two runs.
struct RunComparison {
  std::string title;                   ///< workload, size, machine, policy
  std::vector<std::string> settings;   ///< names, changed keys, status: "policy: a -> b"
  std::string sentence;                ///< a summary in one sentence
  std::vector<ValueChange> headlines;  ///< cycles, IPC, energy, traffic, whether they differ or not
  std::vector<ValueChange> changes;    ///< what differs: these, then counters by weight
  size_t compared = 0;                 ///< values that both have
  std::string certainty;               ///< of samples: how far their cycles may be off; else empty
  std::vector<std::string> only_first, only_second;  ///< counters that one of them has
  std::vector<CycleChange> kernels;                  ///< where the cycles are; parts: causes
  std::vector<CycleChange> causes;                   ///< the same of all kernels
};

/// The differences between the runs of two files.
struct NEARWARP_API Comparison {
  std::vector<std::string> settings;  ///< of the files: version, the machine's keys
  std::vector<RunComparison> runs;
  std::vector<std::string> only_first, only_second;  ///< titles of runs that have no counterpart
  std::string document;                              ///< as `nearwarp compare --json` writes it
  bool equal = false;                                ///< nothing differs

  /// As `nearwarp compare` prints it; of each run `most` changes at most, 0: all.
  Expected<std::string> text(size_t most = 20, size_t width = 80) const;

  struct Whole;
  std::shared_ptr<const Whole> whole = {};
};
/// Compares files of `nearwarp run --json`, sweeps or experiments. Runs belong together that have
/// the same workload, size, machine, policy and changed keys, then those that have the same but for
/// keys, then of the same workload.
NEARWARP_API Expected<Comparison> compare_results(const std::string& first,
                                                  const std::string& second);
/// Compares results of runs; a failure for those that no run has made.
NEARWARP_API Expected<Comparison> compare_results(std::span<const Result> first,
                                                  std::span<const Result> second);

/// A launch that was measured on a device, beside the one that was simulated.
struct LaunchComparison {
  std::string kernel;
  double measured_cycles = 0, simulated_cycles = 0;
};
struct MeasuredComparison {
  std::vector<LaunchComparison> launches;
  double mean_error = 0;   ///< mean magnitude of simulated / measured - 1 over cycles
  double correlation = 0;  ///< correlation of cycles; 0: there is none
  std::string text;        ///< as `nearwarp compare` prints it
};
/// Is the file what Nsight Compute's `ncu --csv` writes?
NEARWARP_API bool is_measured(const std::string& path);
/// Compares such a file with one that has the results of one run.
NEARWARP_API Expected<MeasuredComparison> compare_measured(const std::string& measured,
                                                           const std::string& results);

struct MergeOutcome {
  size_t points = 0;              ///< points in the file
  size_t duplicates = 0;          ///< were left out
  size_t failed = 0;              ///< points that failed
  std::vector<std::string> torn;  ///< files whose last line is cut off, and was left out
};
/// Joins files of a sweep's parts: each point once, in the sweep's order. `output` is whole or as
/// it was before, and may be one of the files.
NEARWARP_API Expected<MergeOutcome> merge_results(Texts files, const std::string& output);

}  // namespace nearwarp
