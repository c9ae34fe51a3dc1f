// Estimates of how long runs will still take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host/api/cost_scale.h"

namespace nearwarp {

/// The time left of one run. The rest is expected to go as fast as what is done, each kernel at its
/// own speed as far as that is known. There is no estimate before a twentieth is done.
class TimeLeft {
 public:
  TimeLeft() : TimeLeft(std::make_shared<const CostScale>()) {}
  /// `scale`: the expected cost of warp-instructions.
  explicit TimeLeft(std::shared_ptr<const CostScale> scale);

  /// Notes that `done` of `total` warp-instructions are done at `seconds`, which must not fall.
  void update(double seconds, uint64_t done, uint64_t total);

  bool begun() const { return done_ != 0; }
  bool over() const { return begun() && done_ >= total_; }
  /// The seconds left at the last update; empty while there is no estimate.
  std::optional<double> seconds() const { return over() ? std::optional(0.0) : seconds_; }
  /// Seconds from the beginning to the last update.
  double elapsed() const { return samples_.empty() ? 0 : samples_.back().at - samples_[0].at; }

 private:
  struct Sample {
    double at = 0, cost = 0;
    size_t launch = 0;  ///< launch in progress
  };
  struct Kernel {
    double cost = 0, seconds = 0;  ///< what is done since from_
    double left = 0;               ///< cost that is left
  };
  void begin(double seconds);
  void measure_left();
  const Sample& sample_at(double share) const;
  bool is_even_now();
  static double rate(const Sample& from, const Sample& to);
  void thin_out();
  std::optional<double> estimate();

  std::shared_ptr<const CostScale> scale_;
  std::vector<Kernel> kernels_;
  std::vector<Sample> samples_;  ///< the first one is of the beginning
  Sample from_;                  ///< speeds are measured from here on
  uint64_t done_ = 0, total_ = 0;
  std::optional<double> seconds_;
};

/// The time left of several runs, some of which wait until another one has ended.
class TimeLeftOfAll {
 public:
  /// `totals`: warp-instructions of each run. `scales`: of each run; a run without one is taken to
  /// have instructions of equal cost.
  explicit TimeLeftOfAll(std::vector<uint64_t> totals,
                         std::span<const std::shared_ptr<const CostScale>> scales = {});

  void update(double seconds, std::span<const uint64_t> done);
  /// The larger one of the longest time left of a run in progress, and the time left of all runs
  /// divided by the number in progress. Runs that wait are taken to be as long as the mean of the
  /// others; empty if they are the larger part, or if a run has no estimate.
  std::optional<double> seconds() const;

 private:
  std::vector<uint64_t> totals_;
  std::vector<TimeLeft> parts_;
};

}  // namespace nearwarp
