// How long something that is watched will still take.
#include "host/core/time_left.h"

#include <algorithm>

namespace nearwarp {
namespace {

constexpr size_t kMostSamples = 256;
/// Before this share is done, and before the third and the fourth quarter of the time are alike in
/// their rates, but for this factor, nobody can say.
constexpr double kLeastShare = 0.05, kAlike = 1.25;
/// From then on estimates are given until they differ by this one: one that comes and goes is read
/// by nobody.
constexpr double kUnlike = 2;

}  // namespace

void TimeLeft::update(double seconds, uint64_t done, uint64_t total) {
  total_ = total;
  // It begins when the last thing that is seen of it is nothing.
  if (done == 0) samples_.clear();
  if (!samples_.empty() && samples_.back().done >= total) return;  // over
  samples_.push_back({seconds, done});
  if (samples_.size() > kMostSamples) thin_out();
  estimate();
}

std::optional<double> TimeLeft::seconds() const { return over() ? std::optional(0.0) : seconds_; }

/// Every other one, but for the first and the last.
void TimeLeft::thin_out() {
  size_t kept = 0;
  for (size_t i = 0; i < samples_.size(); ++i)
    if (i % 2 == 0 || i + 1 == samples_.size()) samples_[kept++] = samples_[i];
  samples_.resize(kept);
}

void TimeLeft::estimate() {
  const Sample& last = samples_.back();
  const auto of = static_cast<double>(total_);
  seconds_.reset();
  if (samples_.size() < 2 || total_ == 0 || static_cast<double>(last.done) < kLeastShare * of) {
    sound_ = false;
    return;
  }
  const Sample &middle = sample_at(0.5), &third = sample_at(0.75);
  const auto rate = [](const Sample& from, const Sample& to) {
    return to.at <= from.at || to.done <= from.done
               ? 0
               : static_cast<double>(to.done - from.done) / (to.at - from.at);
  };
  const double before = rate(middle, third), now = rate(third, last), recent = rate(middle, last);
  const double most = sound_ ? kUnlike : kAlike;
  sound_ = before != 0 && now != 0 && before <= most * now && now <= most * before;
  if (sound_) seconds_ = (of - static_cast<double>(last.done)) / recent;
}

/// The first one after this share of the time.
const TimeLeft::Sample& TimeLeft::sample_at(double share) const {
  const double at = samples_[0].at + share * elapsed();
  return *std::lower_bound(samples_.begin(), samples_.end() - 1, at,
                           [](const Sample& s, double t) { return s.at < t; });
}

void TimeLeftOfAll::update(double seconds, std::span<const uint64_t> done) {
  for (size_t i = 0; i < parts_.size() && i < done.size(); ++i)
    parts_[i].update(seconds, done[i], totals_[i]);
}

std::optional<double> TimeLeftOfAll::seconds() const {
  double longest = 0, sum = 0, known = 0;
  size_t under_way = 0, waiting = 0, begun = 0;
  for (const TimeLeft& part : parts_) {
    if (!part.begun()) {
      waiting += 1;
      continue;
    }
    const std::optional<double> left = part.seconds();
    if (!left.has_value()) return std::nullopt;
    begun += 1;
    under_way += part.over() ? 0 : 1;
    longest = std::max(longest, *left);
    sum += *left;
    known += part.elapsed() + *left;
  }
  if (begun == 0) return std::nullopt;
  const double mean = known / static_cast<double>(begun);
  // If they take twice or half as long as the others, that must not be most of it.
  const double unknown = mean * static_cast<double>(waiting);
  if (unknown > sum) return std::nullopt;
  sum += unknown;
  if (waiting != 0) longest = std::max(longest, mean);
  return std::max(longest, sum / static_cast<double>(std::max<size_t>(under_way, 1)));
}

}  // namespace nearwarp
