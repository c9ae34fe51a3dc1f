// How long something that is watched will still take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host/api/cost_scale.h"

namespace nearwarp {

/// The time left of one thing done bit by bit: the rest takes as long as what is done, each
/// kernel by itself as far as there was some of it. It says nothing before a twentieth of it all is
/// done.
class TimeLeft {
 public:
  TimeLeft() : TimeLeft(std::make_shared<const CostScale>()) {}
  /// `scale`: what warp-instructions cost before anything is known of the time that they take.
  explicit TimeLeft(std::shared_ptr<const CostScale> scale);

  /// At `seconds`, which never fall, `done` of `total` is done.
  void update(double seconds, uint64_t done, uint64_t total);

  bool begun() const { return done_ != 0; }
  bool over() const { return begun() && done_ >= total_; }
  /// Seconds from the last update on; nothing as long as nobody can say.
  std::optional<double> seconds() const { return over() ? std::optional(0.0) : seconds_; }
  /// Since it began.
  double elapsed() const { return samples_.empty() ? 0 : samples_.back().at - samples_[0].at; }

 private:
  struct Sample {
    double at = 0, cost = 0;
    size_t launch = 0;  ///< that was at work
  };
  struct Kernel {
    double cost = 0, seconds = 0;  ///< of what was done since from_
    double left = 0;               ///< cost
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
  std::vector<Sample> samples_;  ///< the first: before anything was done
  Sample from_;                  ///< what was before is no measure of what is left
  uint64_t done_ = 0, total_ = 0;
  std::optional<double> seconds_;
};

/// The time left of several things, of which some wait until one of the others is over.
class TimeLeftOfAll {
 public:
  /// `scales`: of each of them; of those beyond the last, as if all cost the same.
  explicit TimeLeftOfAll(std::vector<uint64_t> totals,
                         std::span<const std::shared_ptr<const CostScale>> scales = {});

  void update(double seconds, std::span<const uint64_t> done);
  /// The longest of those under way, and no less than what is left of all, shared by as many as
  /// are under way; those that wait are taken to be as the mean of the others, as long as they are
  /// the smaller part.
  std::optional<double> seconds() const;

 private:
  std::vector<uint64_t> totals_;
  std::vector<TimeLeft> parts_;
};

}  // namespace nearwarp
