// How long something that is watched will still take.
#include "host/api/time_left.h"

#include <algorithm>
#include <utility>

namespace nearwarp {
namespace {

constexpr size_t kMostSamples = 256;
/// Before this share is done nobody can say.
constexpr double kLeastShare = 0.05;
/// A kernel's own time counts against that of all as what is done of it against this share of all.
constexpr double kOfAll = 0.03;
/// If the last fifth of the time was so many times as fast, or as slow, as all of it, and even, but
/// for this factor, what was before was something else, as a phase in which a mapping is learnt.
constexpr double kLateShare = 0.8, kUnlike = 3, kEven = 1.25;

}  // namespace

TimeLeft::TimeLeft(std::shared_ptr<const CostScale> scale)
    : scale_(std::move(scale)), kernels_(scale_->kernels()) {}

/// Whatever there was before, nothing is done yet.
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
  // Time in which nothing is done belongs to what comes next.
  if (done <= done_) return;
  Sample now = {seconds, scale_->cost(done)};
  const Sample last = samples_.back();
  scale_->each(done_, done, [&](size_t at, double cost) {
    Kernel& kernel = kernels_[at];
    kernel.cost += cost;
    kernel.left -= cost;
    if (now.cost > last.cost) kernel.seconds += (now.at - last.at) * cost / (now.cost - last.cost);
    now.kernel = at;
  });
  done_ = done;
  samples_.push_back(now);
  if (samples_.size() > kMostSamples) thin_out();
  seconds_ = estimate();
}

/// Every other one, but for the first and the last.
void TimeLeft::thin_out() {
  size_t kept = 0;
  for (size_t i = 0; i < samples_.size(); ++i)
    if (i % 2 == 0 || i + 1 == samples_.size()) samples_[kept++] = samples_[i];
  samples_.resize(kept);
}

std::optional<double> TimeLeft::estimate() {
  const Sample& last = samples_.back();
  const double all = scale_->cost(total_);
  if (last.cost < kLeastShare * all) return std::nullopt;
  const auto rate = [](const Sample& from, const Sample& to) {
    return to.at <= from.at ? 0 : (to.cost - from.cost) / (to.at - from.at);
  };
  const auto alike = [](double a, double b, double factor) {
    return a != 0 && b != 0 && a <= factor * b && b <= factor * a;
  };
  const Sample &late = sample_at(kLateShare), &later = sample_at((1 + kLateShare) / 2);
  // Another kernel has a rate of its own.
  const bool one_kernel = from_.kernel == last.kernel && late.kernel == last.kernel;
  if (one_kernel && !alike(rate(late, last), rate(from_, last), kUnlike)) {
    if (!alike(rate(late, later), rate(later, last), kEven)) return std::nullopt;
    from_ = late;
    for (Kernel& kernel : kernels_) kernel.cost = kernel.seconds = 0;
    kernels_[last.kernel].cost = last.cost - late.cost;
    kernels_[last.kernel].seconds = last.at - late.at;
  }
  const double mean = rate(from_, last), of_all = kOfAll * all;
  if (mean == 0) return std::nullopt;
  double seconds = 0;
  for (const Kernel& kernel : kernels_)
    seconds += kernel.left * (kernel.seconds + of_all / mean) / (kernel.cost + of_all);
  return seconds;
}

/// The first one after this share of the time from from_ on.
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
  // If they take twice or half as long as the others, that must not be most of it.
  const double unknown = mean * static_cast<double>(waiting);
  if (unknown > sum) return std::nullopt;
  sum += unknown;
  if (waiting != 0) longest = std::max(longest, mean);
  return std::max(longest, sum / static_cast<double>(std::max<size_t>(under_way, 1)));
}

}  // namespace nearwarp
