// Some launches of a program that stand for all.
#include "host/recording/launch_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "host/core/regression_estimate.h"
#include "host/core/student.h"
#include "host/recording/division.h"
#include "host/recording/repeats.h"
#include "host/recording/sample_units.h"

namespace nearwarp::runtime {
namespace {

/// Spread of what a launch takes whatever it does, in the same: memory refreshes in it or does not.
constexpr double kLaunchSpread = 5'000;
/// Units with more than one part in so many of what the program reads anew are simulated.
constexpr double kMuchOf = 20;
/// A sample that is more work than this share of the program's is none.
constexpr double kMostWork = 0.5;
/// Strata of a program, at most, and divisions that may bring nothing before one that does.
constexpr size_t kMostStrata = 96, kPatience = 12;

using Members = std::vector<uint32_t>;  ///< units

/// A stratum while it may still be divided.
struct Node {
  Members members;
  double mean = 0;       ///< size
  double deviation = 0;  ///< of cycles, expected, in units of size
  double work = 0;       ///< mean
  bool same = false;     ///< launches repeat each other
  bool divisible = true;

  double count() const { return static_cast<double>(members.size()); }
};

/// How many units of each stratum are simulated, and what that costs.
struct Numbers {
  std::vector<uint64_t> sampled;  ///< by stratum
  double work = std::numeric_limits<double>::infinity();
};

class Design {
 public:
  Design(const Recording& recording, double error, uint32_t before, uint32_t together,
         const std::vector<uint64_t>& resident)
      : recording_(recording),
        error_(error),
        before_(before),
        together_(together),
        cuts_(launch_cuts(recording)),
        alike_(recording.studies->of<std::vector<uint32_t>>(
            "first alike", [&] { return first_alike(recording); })),
        found_(sample_units(recording, cuts_, before, together, resident)),
        units_(found_.units) {}

  bool divides_launches() const { return found_.divided != 0; }

  Division make() {
    // Lines that come from memory may come in few launches, which hardly show in cycles: then those
    // are simulated.
    double fresh = 0;
    for (const Unit& u : units_) fresh += u.features[kFreshLines];
    std::map<uint32_t, Members> groups;
    for (uint32_t i = 0; i < units_.size(); ++i) {
      const bool is_launch = !units_[i].blocks.has_value();
      if ((is_launch && units_[i].features[kFreshLines] * kMuchOf > fresh) ||
          units_[i].first < together_)
        nodes_.push_back(node_of({i}));
      else
        groups[units_[i].group].push_back(i);
    }
    for (auto& [group, members] : groups) nodes_.push_back(node_of(std::move(members)));
    std::vector<Node> best = nodes_;
    Numbers cheapest = allocate();
    for (size_t in_vain = 0; in_vain < kPatience && nodes_.size() < kMostStrata && divide_one();) {
      Numbers a = allocate();
      ++in_vain;
      if (a.work >= cheapest.work) continue;
      in_vain = 0;
      cheapest = std::move(a);
      best = nodes_;
    }
    nodes_ = std::move(best);
    return parts_of(cheapest);
  }

 private:
  Node node_of(Members members) const;
  bool divide_one();
  Numbers allocate() const;
  Division parts_of(const Numbers& allocation) const;
  std::vector<std::vector<uint32_t>> chosen(const std::vector<uint64_t>& numbers) const;
  void add_part(const Unit& unit, Division& division) const;
  void set_weights(LaunchSample& sample, const std::vector<double>& stratum_sizes) const;
  std::string kernels_of(const Unit& unit) const;

  const Recording& recording_;
  double error_;
  uint32_t before_, together_;
  std::vector<bool> cuts_;
  std::shared_ptr<const std::vector<uint32_t>> alike_;  // by launch: the first one that it repeats
  SampleUnits found_;
  const std::vector<Unit>& units_;
  std::vector<Node> nodes_;
};

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
  /// Of cycles: of what features show, and of what they do not.
  double deviation(double unseen) const {
    double variance =
        unseen * unseen * size / n * size / n + kLaunchSpread * kLaunchSpread * launches / n;
    for (size_t f = 0; f < kSampleFeatures; ++f) {
      const double mean = sum[f] / n;
      variance += std::max(0.0, squares[f] / n - mean * mean);
    }
    return std::sqrt(variance);
  }
};

Node Design::node_of(Members members) const {
  Node node;
  Sums sums;
  const auto repeats = [&](uint32_t a, uint32_t b) {
    const Unit &x = units_[a], &y = units_[b];
    return !x.blocks.has_value() && !y.blocks.has_value() &&
           std::equal(alike_->begin() + x.first, alike_->begin() + x.end, alike_->begin() + y.first,
                      alike_->begin() + y.end);
  };
  node.same = true;
  for (const uint32_t m : members) {
    sums.add(units_[m]);
    node.work += units_[m].work;
    node.same = node.same && repeats(m, members[0]);
  }
  node.members = std::move(members);
  node.mean = sums.size / sums.n;
  node.work /= sums.n;
  node.deviation = sums.deviation(node.same ? kSpreadOfTheSame : kUnseenSpread);
  return node;
}

/// Divides the stratum that matters most in two, where that leaves least of what features show.
/// Returns false if none can be.
bool Design::divide_one() {
  Node* node = nullptr;
  for (Node& n : nodes_)
    if (n.divisible && n.members.size() > 1 &&
        (node == nullptr || n.count() * n.deviation > node->count() * node->deviation))
      node = &n;
  if (node == nullptr) return false;
  double least = std::numeric_limits<double>::infinity();
  Members left, right;
  for (size_t f = 0; f < kSampleFeatures; ++f) {
    Members order = node->members;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return units_[a].features[f] < units_[b].features[f];
    });
    Sums below, above;
    for (const uint32_t m : order) above.add(units_[m]);
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      below.add(units_[order[i]]);
      above.add(units_[order[i]], -1);
      if (units_[order[i]].features[f] == units_[order[i + 1]].features[f]) continue;
      const double both =
          below.n * below.deviation(kUnseenSpread) + above.n * above.deviation(kUnseenSpread);
      if (both >= least) continue;
      least = both;
      left.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(i) + 1);
      right.assign(order.begin() + static_cast<ptrdiff_t>(i) + 1, order.end());
    }
  }
  if (left.empty()) {
    node->divisible = false;
    return divide_one();
  }
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  *node = node_of(std::move(left));
  nodes_.push_back(node_of(std::move(right)));
  return true;
}

/// The cheapest numbers that are expected to meet the error.
Numbers Design::allocate() const {
  double all = 0;
  for (const Unit& u : units_) all += u.size;
  const double known = divides_launches() ? std::hypot(kStartError, kInsideError) : kStartError;
  const double most = std::sqrt(error_ * error_ - known * known);
  const auto with = [&](double scale) {
    Numbers a;
    a.work = 0;
    double variance = 0, degrees = kExpectationWeighs;
    for (const Node& node : nodes_) {
      const double n = node.count();
      const double wanted = std::ceil(scale * n * node.deviation / std::sqrt(node.work + 1));
      const double sampled = std::clamp(wanted, std::min(2.0, n), n);
      variance += n * n * node.deviation * node.deviation * (1 / sampled - 1 / n);
      if (sampled < n) degrees += sampled - 1;
      a.sampled.push_back(static_cast<uint64_t>(sampled));
      a.work += sampled * node.work;
    }
    return std::pair(a, student_95(degrees) * std::sqrt(variance) <= most * all);
  };
  double low = 0, high = 1;
  while (!with(high).second && high < 1e300) high *= 16;
  for (int i = 0; i < 60 && high - low > 1e-6 * high; ++i) {
    const double middle = (low + high) / 2;
    (with(middle).second ? high : low) = middle;
  }
  return with(high).first;
}

/// Numbers that look random, always the same (SplitMix64; Steele, Lea and Flood, OOPSLA 2014).
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Launches that are simulated so far, and how near to them a unit is.
class Covered {
 public:
  Covered(const Recording& recording, const std::vector<bool>& cuts, uint32_t before)
      : cuts_(cuts), before_(before), is_(recording.launches.size()) {}

  /// The less the more of what is simulated before it is there, and then the nearer it is. How much
  /// it is itself counts for nothing, or small units would be chosen.
  uint32_t apart(const Unit& u) const {
    uint32_t missing = 0, distance = 0;
    for (uint32_t i = part(u).begin; i < u.first; ++i) missing += is_[i] ? 0 : 1;
    while (distance < kNear && !(u.first >= distance && is_[u.first - distance]) &&
           !(u.first + distance < is_.size() && is_[u.first + distance]))
      ++distance;
    return missing * (kNear + 1) + distance;
  }
  void add(const Unit& u) { std::fill(is_.begin() + part(u).begin, is_.begin() + u.end, true); }

 private:
  /// Launches that are farther apart are not near, whatever lies between.
  static constexpr uint32_t kNear = 16;
  LaunchPart part(const Unit& u) const { return part_of(cuts_, u.first, u.end, before_); }

  const std::vector<bool>& cuts_;
  uint32_t before_;
  std::vector<bool> is_;
};

/// Of each stratum so many units: one of each n-th, in the order of sizes, and then of the program.
/// Which one is as good as chance for the first stratum; of others it is one that is near to those
/// that were chosen, so that launches that follow each other are simulated in one go.
std::vector<std::vector<uint32_t>> Design::chosen(const std::vector<uint64_t>& numbers) const {
  std::vector<std::vector<uint32_t>> all(nodes_.size());
  std::vector<size_t> by_number(nodes_.size());
  std::iota(by_number.begin(), by_number.end(), size_t{0});
  std::stable_sort(by_number.begin(), by_number.end(),
                   [&](size_t a, size_t b) { return numbers[a] > numbers[b]; });
  Covered covered(recording_, cuts_, before_);
  for (const size_t node : by_number) {
    const uint64_t n = numbers[node];
    Members order = nodes_[node].members;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return units_[a].size < units_[b].size; });
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t begin = i * order.size() / n, end = (i + 1) * order.size() / n;
      const uint64_t random = begin + mixed(uint64_t{node} << 32 ^ i) % (end - begin);
      uint32_t unit = order[random];
      if (n < order.size() && !units_[unit].blocks.has_value()) {
        uint32_t least = covered.apart(units_[unit]);
        for (uint64_t k = 1; k < end - begin; ++k) {
          const uint32_t other = order[begin + (random - begin + k) % (end - begin)];
          const uint32_t apart = covered.apart(units_[other]);
          if (apart >= least) continue;
          least = apart;
          unit = other;
        }
      }
      all[node].push_back(unit);
    }
    // Those that stand for themselves, at the program's beginning mostly, have nothing about them
    // that is as good as chance.
    if (n == order.size()) continue;
    for (const uint32_t unit : all[node])
      if (!units_[unit].blocks.has_value()) covered.add(units_[unit]);
  }
  return all;
}

std::string Design::kernels_of(const Unit& unit) const {
  std::string names;
  for (uint32_t i = unit.first; i < unit.end; ++i)
    names += (names.empty() ? "" : "+") + recording_.kernels[recording_.launches[i].kernel]->name;
  return names;
}

/// Each unit stands for as many as its stratum has over those simulated, a little more or less so
/// that the sizes of a group with a line add up to what they are.
void Design::set_weights(LaunchSample& sample, const std::vector<double>& stratum_sizes) const {
  std::vector<double> means(sample.strata.size(), 0);
  for (const SampleUnit& u : sample.parts)
    if (u.stratum != SampleUnit::kItself)
      means[u.stratum] += u.size / static_cast<double>(sample.strata[u.stratum].sampled);
  std::map<uint32_t, std::pair<double, double>> lines;  // by group: missing size, moment
  for (uint32_t i = 0; i < sample.strata.size(); ++i) {
    const SampleStratum& s = sample.strata[i];
    lines[s.group].first += stratum_sizes[i] - static_cast<double>(s.units) * means[i];
  }
  for (const SampleUnit& u : sample.parts) {
    if (u.stratum == SampleUnit::kItself) continue;
    const SampleStratum& s = sample.strata[u.stratum];
    const double apart = size_from_mean(u.size, means[u.stratum]);
    lines[s.group].second += line_share(s.units, s.sampled) * apart * apart;
  }
  // A part of the way where weights would differ too much, as if few sizes lie far from the rest.
  std::map<uint32_t, double> ways;
  const auto more = [&](const SampleUnit& u) {
    const SampleStratum& s = sample.strata[u.stratum];
    const auto& [missing, moment] = lines[s.group];
    if (!s.has_line || moment <= 0) return 0.0;
    return missing / moment * line_share(s.units, s.sampled) *
           size_from_mean(u.size, means[u.stratum]);
  };
  const auto plain = [&](const SampleUnit& u) {
    const SampleStratum& s = sample.strata[u.stratum];
    return static_cast<double>(s.units) / static_cast<double>(s.sampled);
  };
  for (const SampleUnit& u : sample.parts) {
    if (u.stratum == SampleUnit::kItself) continue;
    double& way = ways.try_emplace(sample.strata[u.stratum].group, 1).first->second;
    way = std::min(way, plain(u) / std::max({plain(u), more(u), -2 * more(u)}));
  }
  for (SampleUnit& u : sample.parts)
    if (u.stratum != SampleUnit::kItself)
      u.weight = plain(u) + ways[sample.strata[u.stratum].group] * more(u);
}

/// A unit is a part, or a piece of the one before where all that would be simulated before it
/// begins in that: then what is simulated is simulated once.
void Design::add_part(const Unit& unit, Division& division) const {
  LaunchPart part = part_of(cuts_, unit.first, unit.end, before_);
  if (unit.blocks.has_value()) {
    if (unit.blocks->begin != 0) part.begin = unit.first;
    part.blocks = unit.blocks;
  } else if (!division.parts.empty() && !division.parts.back().blocks.has_value() &&
             division.parts.back().end >= std::max(part.begin, together_ + 1)) {
    LaunchPart& last = division.parts.back();
    if (last.pieces.empty()) last.pieces.push_back({last.first, last.end});
    last.pieces.push_back({unit.first, unit.end});
    last.end = unit.end;
    return;
  }
  division.parts.push_back(std::move(part));
}

Division Design::parts_of(const Numbers& allocation) const {
  // Groups in which enough is simulated to tell a line from it.
  constexpr uint64_t kForALine = 3;
  std::map<uint32_t, uint64_t> degrees;
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (allocation.sampled[i] < nodes_[i].members.size())
      degrees[units_[nodes_[i].members[0]].group] += allocation.sampled[i] - 1;
  LaunchSample sample;
  sample.error = error_;
  sample.units = units_.size();
  std::vector<double> stratum_sizes;
  std::map<uint32_t, uint32_t> stratum_of;  // by unit that is simulated
  sample.divided = found_.divided;
  const std::vector<std::vector<uint32_t>> units = chosen(allocation.sampled);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const bool all = allocation.sampled[i] == node.members.size();
    const Unit& first = units_[node.members[0]];
    for (const uint32_t u : units[i])
      stratum_of[u] = all ? SampleUnit::kItself : static_cast<uint32_t>(sample.strata.size());
    if (all) continue;
    SampleStratum stratum;
    stratum.kernels = kernels_of(first);
    stratum.group = first.group;
    stratum.has_line = degrees[first.group] >= kForALine;
    stratum.units = node.members.size();
    stratum.sampled = allocation.sampled[i];
    stratum.spread = node.deviation / node.mean;
    sample.strata.push_back(std::move(stratum));
    stratum_sizes.push_back(node.mean * node.count());
  }
  Division division;
  for (const auto& [u, stratum] : stratum_of) {
    const Unit& unit = units_[u];
    sample.launches += unit.blocks.has_value() ? 0 : unit.end - unit.first;
    const bool is_middle = unit.blocks.has_value() && unit.blocks->first != 0 &&
                           unit.blocks->end != recording_.launches[unit.first].blocks_recorded;
    SampleUnit simulated{stratum, 1, unit.size, is_middle ? unit.instructions : 0, unit.share};
    const bool goes_on = !sample.parts.empty() && stratum == SampleUnit::kItself &&
                         sample.parts.back().stratum == SampleUnit::kItself &&
                         !unit.blocks.has_value() && !division.parts.back().blocks.has_value() &&
                         division.parts.back().end == unit.first && unit.first != together_;
    if (goes_on) {
      sample.parts.back().size += unit.size;
      std::vector<LaunchRange>& pieces = division.parts.back().pieces;
      division.parts.back().end = unit.end;
      if (!pieces.empty()) pieces.back().end = unit.end;
      continue;
    }
    sample.parts.push_back(simulated);
    add_part(unit, division);
  }
  uint64_t work = 0;
  for (const LaunchPart& p : division.parts) work += instructions_of(recording_, p);
  sample.simulated = static_cast<double>(work) / static_cast<double>(recording_.warp_instructions);
  division.undivided = found_.undivided;
  if (sample.simulated > kMostWork) {
    division.parts.clear();
    division.in_one_go = {sample_within(error_),
                          fmt::format("it would have simulated {:.0f} % of the program's "
                                      "instructions, more than half",
                                      100 * sample.simulated)};
    return division;
  }
  set_weights(sample, stratum_sizes);
  division.sample = std::move(sample);
  return division;
}

}  // namespace

std::string sample_within(double error) {
  return fmt::format("a sample within {:.6g} %", 100 * error);
}

Division sample_launches(const Recording& recording, double error, uint32_t before,
                         uint32_t together, const std::vector<uint64_t>& resident) {
  if (recording.launches.empty()) return {};
  const bool may_divide = error > std::hypot(kStartError, kInsideError);
  Design inside(recording, error, before, together,
                may_divide ? resident : std::vector<uint64_t>());
  if (!inside.divides_launches()) return inside.make();
  Division blocks = inside.make();
  Division launches = Design(recording, error, before, together, {}).make();
  const bool is_less =
      blocks.sample.has_value() &&
      (!launches.sample.has_value() || blocks.sample->simulated < launches.sample->simulated);
  launches.undivided = blocks.undivided;
  return is_less ? blocks : launches;
}

}  // namespace nearwarp::runtime
