// Estimates of how long runs will still take.
#include "host/api/time_left.h"

#include <algorithm>
#include <utility>

namespace nearwarp {
namespace {

constexpr size_t kMostSamples = 256;
/// There is no estimate before this share is done.
constexpr double kLeastShare = 0.05;
/// A kernel's own speed is mixed with the mean of all kernels. The weight of the former is the cost
/// that is done of the kernel; that of the latter is this share of all costs and the cost of one of
/// the kernel's launches, since a launch's beginning is not like the rest of it.
constexpr double kOfAll = 0.03;
/// The time before kLateShare is left out as another phase, such as one in which a mapping is
/// learnt, if the time after it went kUnlike times as fast as all of it, and its two halves differ
/// by a factor of kEven at most. A launch that becomes slower is near its end, with few warps left.
constexpr double kLateShare = 0.8, kUnlike = 3, kEven = 1.25;

}  // namespace

TimeLeft::TimeLeft(std::shared_ptr<const CostScale> scale)
    : scale_(std::move(scale)), kernels_(scale_->kernels()) {}

/// Begins anew at `seconds`, with nothing done.
void TimeLeft::begin(double seconds) {
  samples_ = {{seconds}};
  from_ = samples_[0];
  done_ = 0;
  seconds_.reset();
  std::ranges::fill(kernels_, Kernel{});
  measure_left();
}

void TimeLeft::measure_left() {
  for (Kernel& kernel : kernels_) kernel.left = 0;
  if (done_ >= total_) return;
  scale_->each(done_, total_, [&](size_t kernel, double cost) { kernels_[kernel].left += cost; });
}

void TimeLeft::update(double seconds, uint64_t done, uint64_t total) {
  const bool another = total != total_;
  total_ = total;
  if (done == 0 || samples_.empty()) begin(seconds);
  if (another) measure_left();
  done = std::min(done, total);
  // Time without progress is counted with the progress that follows.
  if (done <= done_) return;
  const Sample now = {seconds, scale_->cost(done), scale_->launch_of(done)};
  const Sample last = samples_.back();
  scale_->each(done_, done, [&](size_t at, double cost) {
    Kernel& kernel = kernels_[at];
    kernel.cost += cost;
    kernel.left -= cost;
    if (now.cost > last.cost) kernel.seconds += (now.at - last.at) * cost / (now.cost - last.cost);
  });
  done_ = done;
  samples_.push_back(now);
  if (samples_.size() > kMostSamples) thin_out();
  seconds_ = estimate();
}

/// Drops every other sample, except the last one.
void TimeLeft::thin_out() {
  size_t kept = 0;
  for (size_t i = 0; i < samples_.size(); ++i)
    if (i % 2 == 0 || i + 1 == samples_.size()) samples_[kept++] = samples_[i];
  samples_.resize(kept);
}

/// The cost per second between two samples.
double TimeLeft::rate(const Sample& from, const Sample& to) {
  return to.at <= from.at ? 0 : (to.cost - from.cost) / (to.at - from.at);
}

/// Looks for a new phase, as described at kUnlike. If there is one and it is even, from_ and the
/// kernels' times begin with it. False if it is not even: then there is no estimate.
bool TimeLeft::is_even_now() {
  const Sample &last = samples_.back(), &late = sample_at(kLateShare);
  // A change of speed since an earlier launch is no new phase: each launch may have its own.
  if (from_.launch != last.launch || rate(late, last) <= kUnlike * rate(from_, last)) return true;
  const Sample& later = sample_at((1 + kLateShare) / 2);
  const double before = rate(late, later), now = rate(later, last);
  if (before > kEven * now || now > kEven * before) return false;
  size_t kernel = 0;
  scale_->each(done_ - 1, done_, [&](size_t at, double) { kernel = at; });
  for (Kernel& k : kernels_) k.cost = k.seconds = 0;
  kernels_[kernel].cost = last.cost - late.cost;
  kernels_[kernel].seconds = last.at - late.at;
  from_ = late;
  return true;
}

std::optional<double> TimeLeft::estimate() {
  const Sample& last = samples_.back();
  const double all = scale_->cost(total_);
  if (last.cost < kLeastShare * all || !is_even_now()) return std::nullopt;
  const double mean = rate(from_, last);
  if (mean == 0) return std::nullopt;
  double seconds = 0;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const Kernel& kernel = kernels_[i];
    const double others = kOfAll * all + scale_->launch_of_kernel(i);
    seconds += kernel.left * (kernel.seconds + others / mean) / (kernel.cost + others);
  }
  return seconds;
}

/// The first sample after this share of the time since from_.
const TimeLeft::Sample& TimeLeft::sample_at(double share) const {
  const double at = from_.at + share * (samples_.back().at - from_.at);
  return *std::lower_bound(samples_.begin(), samples_.end() - 1, at,
                           [](const Sample& s, double t) { return s.at < t; });
}

TimeLeftOfAll::TimeLeftOfAll(std::vector<uint64_t> totals,
                             std::span<const std::shared_ptr<const CostScale>> scales)
    : totals_(std::move(totals)) {
  for (size_t i = 0; i < totals_.size(); ++i)
    parts_.push_back(i < scales.size() ? TimeLeft(scales[i]) : TimeLeft());
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
  // The runs that wait may take twice or half as long as this, so they must not be the larger part.
  const double unknown = mean * static_cast<double>(waiting);
  if (unknown > sum) return std::nullopt;
  sum += unknown;
  if (waiting != 0) longest = std::max(longest, mean);
  return std::max(longest, sum / static_cast<double>(std::max<size_t>(under_way, 1)));
}

}  // namespace nearwarp
