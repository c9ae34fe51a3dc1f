// How long something that is watched will still take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nearwarp {

/// Of one thing that is done bit by bit. It says nothing until what has been done is a sound basis:
/// a twentieth of it all, and the last quarter of the time as fast as the one before.
class TimeLeft {
 public:
  /// At `seconds`, which never fall, `done` of `total` is done.
  void update(double seconds, uint64_t done, uint64_t total);

  bool begun() const { return !samples_.empty() && samples_.back().done != 0; }
  bool over() const { return begun() && samples_.back().done >= total_; }
  /// Seconds from the last update on; nothing as long as nobody can say.
  std::optional<double> seconds() const;
  /// Since it began.
  double elapsed() const { return samples_.empty() ? 0 : samples_.back().at - samples_[0].at; }

 private:
  struct Sample {
    double at;
    uint64_t done;
  };
  const Sample& sample_at(double share) const;
  void thin_out();
  void estimate();

  std::vector<Sample> samples_;  ///< the first: before anything was done
  uint64_t total_ = 0;
  bool sound_ = false;  ///< there is something to go by
  std::optional<double> seconds_;
};

/// Of several things of which some are done at a time and others wait until one is over.
class TimeLeftOfAll {
 public:
  explicit TimeLeftOfAll(std::vector<uint64_t> totals)
      : totals_(std::move(totals)), parts_(totals_.size()) {}

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
