// Divides units into strata, and allocates the units to be simulated among them.
#include "host/recording/sample_strata.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "host/core/student.h"
#include "host/recording/launch_sample.h"

namespace nearwarp::runtime {
namespace {

/// Standard deviation of a launch's cycles that no feature explains, in units of size: a refresh of
/// the memory falls into it or does not (estimated).
constexpr double kLaunchSpread = 5'000;
/// A launch's spread under a policy that decides by how busy the machine is (measured,
/// docs/launches-measured.md).
constexpr double kLaunchSpreadByLoad = 10'000;
/// Launches beside each other take one of two times, of which the rarer one may not be among those
/// that are simulated: their expected spread is multiplied by this (measured, see there).
constexpr double kRareTimes = 1.5;
/// Units with more than a 20th of all fresh lines of the program are simulated.
constexpr double kMuchOf = 20;
/// Launches that repeat a few launches in turn count as the same, if each of these is repeated so
/// many times on average: buffers are swapped, or a loop launches one kernel at several places
/// (estimated).
constexpr size_t kTurns = 8;
/// The most strata of a program, and the most divisions in a row that reduce no work.
constexpr size_t kMostStrata = 96, kPatience = 12;

/// Sums over units, for means and variances.
struct Sums {
  double n = 0, size = 0, launches = 0;
  SampleCosts sum{}, squares{};

  void add(const Unit& u, double sign = 1) {
    n += sign;
    size += sign * u.size;
    launches += sign * u.launches;
    for (size_t f = 0; f < kSampleFeatures; ++f) {
      sum[f] += sign * u.features[f];
      squares[f] += sign * u.features[f] * u.features[f];
    }
  }
  /// The expected standard deviation of cycles: that of the features, and `unseen` (relative) and
  /// `of_launch` (by launch) for what features do not show.
  double deviation(double unseen, double of_launch) const {
    double variance = unseen * unseen * size / n * size / n + of_launch * of_launch * launches / n;
    for (size_t f = 0; f < kSampleFeatures; ++f) {
      const double mean = sum[f] / n;
      variance += std::max(0.0, squares[f] / n - mean * mean);
    }
    return std::sqrt(variance);
  }
};

/// The end of the launches that are simulated from the program's first one on: the first
/// `beginning`, and units that are simulated for themselves (`itself`) and whose lead-in begins
/// within these. The launches in between are simulated exactly in any case, so they stand for
/// themselves.
uint32_t beginning_of(const std::vector<Unit>& units, const std::vector<bool>& itself,
                      uint32_t beginning) {
  uint32_t end = beginning;
  for (size_t i = 0; i < units.size() && !units[i].blocks.has_value(); ++i)
    if (itself[i] && units[i].begin <= end) end = std::max(end, units[i].end);
  return end;
}

}  // namespace

/// Numbers of units to simulate, with their work and the expected variance of the sum of cycles.
struct Strata::Numbers {
  std::vector<uint64_t> sampled;  ///< by stratum
  double work = std::numeric_limits<double>::infinity();
  double variance = 0, degrees = kExpectationWeighs;
};

Strata::Strata(const SampleUnits& found, const std::vector<uint32_t>& alike, double error,
               uint32_t beginning, bool by_load)
    : units_(found.units), alike_(alike), error_(error), by_load_(by_load) {
  // Few launches may read most of the lines that come from memory, though their cycles are few:
  // these launches are simulated.
  double fresh = 0;
  for (const Unit& u : units_) {
    fresh += u.features[kFreshLines];
    all_ += u.size;
  }
  std::vector<bool> itself;
  for (const Unit& u : units_)
    itself.push_back(!u.blocks.has_value() && u.features[kFreshLines] * kMuchOf > fresh);
  const uint32_t end = beginning_of(units_, itself, beginning);
  std::map<uint32_t, Members> groups;
  for (uint32_t i = 0; i < units_.size(); ++i) {
    if (itself[i] || (!units_[i].blocks.has_value() && units_[i].first < end))
      strata_.push_back(stratum_of({i}));
    else
      groups[units_[i].group].push_back(i);
  }
  for (auto& [group, members] : groups) strata_.push_back(stratum_of(std::move(members)));
  std::vector<Stratum> best = strata_;
  double least = cheapest().work;
  for (size_t in_vain = 0; in_vain < kPatience && strata_.size() < kMostStrata && divide_one();) {
    const double work = cheapest().work;
    ++in_vain;
    if (work >= least) continue;
    in_vain = 0;
    least = work;
    best = strata_;
  }
  strata_ = std::move(best);
  divide_by_kind();
  scale_ = scale();
}

/// Divides strata whose launches repeat a few launches in turn, one stratum for each of these. The
/// place of their data may make more of a difference than all features, and two sampled units that
/// happen to repeat the same launch would not show it.
void Strata::divide_by_kind() {
  std::vector<Stratum> divided;
  for (Stratum& s : strata_) {
    std::map<std::vector<uint32_t>, Members> kinds;
    for (const uint32_t m : s.members) kinds[repeated_by(units_[m])].push_back(m);
    if (!s.same || kinds.size() == 1) {
      divided.push_back(std::move(s));
      continue;
    }
    for (auto& [repeated, members] : kinds) divided.push_back(stratum_of(std::move(members)));
  }
  strata_ = std::move(divided);
}

std::vector<uint32_t> Strata::repeated_by(const Unit& unit) const {
  return {alike_.begin() + unit.first, alike_.begin() + unit.end};
}

Stratum Strata::stratum_of(Members members) const {
  Stratum stratum;
  Sums sums;
  std::set<std::vector<uint32_t>> kinds;  // different results of repeated_by()
  bool launches = true;
  for (const uint32_t m : members) {
    const Unit& u = units_[m];
    sums.add(u);
    stratum.work += u.work;
    launches = launches && !u.blocks.has_value();
    if (kinds.size() * kTurns <= members.size()) kinds.insert(repeated_by(u));
  }
  stratum.same = launches && (kinds.size() == 1 || kinds.size() * kTurns <= members.size());
  stratum.members = std::move(members);
  stratum.mean = sums.size / sums.n;
  stratum.work /= sums.n;
  stratum.deviation =
      sums.deviation(unseen_spread(stratum), by_load_ ? kLaunchSpreadByLoad : kLaunchSpread);
  return stratum;
}

double Strata::unseen_spread(const Stratum& stratum) const {
  const Unit& unit = units_[stratum.members[0]];
  if (by_load_ && unit.end - unit.first > 1) return kRareTimes * kSpreadBeside;
  return stratum.same ? kSpreadOfTheSame : kUnseenSpread;
}

/// Divides the stratum with the largest share of the deviation in two, by the feature and at the
/// value that leave the least deviation. Returns false if no stratum can be divided.
bool Strata::divide_one() {
  Stratum* one = nullptr;
  for (Stratum& s : strata_)
    if (s.divisible && s.members.size() > 1 &&
        (one == nullptr || s.count() * s.deviation > one->count() * one->deviation))
      one = &s;
  if (one == nullptr) return false;
  double least = std::numeric_limits<double>::infinity();
  Members left, right;
  for (size_t f = 0; f < kSampleFeatures; ++f) {
    Members order = one->members;
    const auto differs = [&](uint32_t unit) {
      return units_[unit].features[f] != units_[order[0]].features[f];
    };
    if (std::ranges::none_of(order, differs)) continue;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return units_[a].features[f] < units_[b].features[f];
    });
    Sums below, above;
    for (const uint32_t m : order) above.add(units_[m]);
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      below.add(units_[order[i]]);
      above.add(units_[order[i]], -1);
      if (units_[order[i]].features[f] == units_[order[i + 1]].features[f]) continue;
      const double both = below.n * below.deviation(kUnseenSpread, kLaunchSpread) +
                          above.n * above.deviation(kUnseenSpread, kLaunchSpread);
      if (both >= least) continue;
      least = both;
      left.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(i) + 1);
      right.assign(order.begin() + static_cast<ptrdiff_t>(i) + 1, order.end());
    }
  }
  if (left.empty()) {
    one->divisible = false;
    return divide_one();
  }
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  *one = stratum_of(std::move(left));
  strata_.push_back(stratum_of(std::move(right)));
  return true;
}

Strata::Numbers Strata::with(const std::vector<uint64_t>& sampled) const {
  Numbers a;
  a.work = 0;
  for (size_t i = 0; i < strata_.size(); ++i) {
    const Stratum& s = strata_[i];
    const double n = s.count(), some = static_cast<double>(sampled[i]);
    a.variance += n * n * s.deviation * s.deviation * (1 / some - 1 / n);
    if (sampled[i] < s.members.size()) a.degrees += some - 1;
    a.work += some * s.work;
  }
  a.sampled = sampled;
  return a;
}

bool Strata::meet(const Numbers& a) const {
  return student_95(a.degrees) * std::sqrt(a.variance) <= error_ * all_;
}

/// Neyman's allocation: a stratum's number grows with its units and their deviation, and falls with
/// the square root of their work; it is at least two.
std::vector<uint64_t> Strata::numbers_at(double scale, uint64_t most) const {
  std::vector<uint64_t> sampled;
  for (const Stratum& s : strata_) {
    const double n = s.count();
    const double wanted = std::ceil(scale * n * s.deviation / std::sqrt(s.work + 1));
    const double limited = std::min(wanted, static_cast<double>(most));
    sampled.push_back(static_cast<uint64_t>(std::clamp(limited, std::min(2.0, n), n)));
  }
  return sampled;
}

/// The least scale at which numbers_at() is expected to meet the error.
double Strata::scale() const {
  const auto meets = [&](double at) { return meet(with(numbers_at(at, ~uint64_t{0}))); };
  double low = 0, high = 1;
  while (!meets(high) && high < 1e300) high *= 16;
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    const double middle = (low + high) / 2;
    (meets(middle) ? high : low) = middle;
  }
  return high;
}

Strata::Numbers Strata::cheapest() const { return with(numbers_at(scale(), ~uint64_t{0})); }

std::vector<uint64_t> Strata::numbers(double share, uint64_t most) const {
  return numbers_at(scale_ * share, most);
}

bool Strata::meet(const std::vector<uint64_t>& sampled) const { return meet(with(sampled)); }

}  // namespace nearwarp::runtime
