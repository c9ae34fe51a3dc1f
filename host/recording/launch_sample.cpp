// Some launches of a program that stand for all.
#include "host/recording/launch_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "host/core/regression_estimate.h"
#include "host/core/student.h"
#include "host/recording/division.h"
#include "host/recording/launch_features.h"
#include "host/recording/repeats.h"

namespace nearwarp::runtime {
namespace {

/// What launches take, in warp-instructions as a machine of kSms SMs does them when it is busy with
/// them: only what is large beside the rest is to divide strata. The numbers are estimated.
enum Feature : size_t {
  kInstructions,
  kTransactions,
  kSectors,
  kLines,
  kFreshLines,
  kBlocks,
  kChain,   ///< of a warp's instructions, one after the other
  kBefore,  ///< lines of the launch before, which may have to be written back first
  kLanes,   ///< how many take part is no work of its own, but divides strata
  kFeatures,
};
using Costs = std::array<double, kFeatures>;
constexpr double kSms = 70, kLaunchCosts = 50'000, kTransactionCosts = 4, kSectorCosts = 4,
                 kLineCosts = 8, kFreshLineCosts = 64, kBlockCosts = 50, kChainCosts = 500,
                 kLineBeforeCosts = 4, kLanesCount = 0.5;
/// Spread of what a launch takes whatever it does, in the same: memory refreshes in it or does not.
constexpr double kLaunchSpread = 5'000;
/// Units with more than one part in so many of what the program reads anew are simulated.
constexpr double kMuchOf = 20;
/// A sample that is more work than this share of the program's is none.
constexpr double kMostWork = 0.5;
/// Strata of a program, at most, and divisions that may bring nothing before one that does.
constexpr size_t kMostStrata = 96, kPatience = 12;

/// Launches that are simulated together.
struct Unit {
  uint32_t first = 0, end = 0, group = 0;
  double work = 0;  ///< warp-instructions of its part, those before it included
  double size = 0;  ///< the sum of what it takes
  Costs features{};
};

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
  Design(const Recording& recording, double error, uint32_t before, uint32_t together)
      : recording_(recording),
        error_(error),
        before_(before),
        together_(together),
        cuts_(launch_cuts(recording)) {
    find_units();
  }

  Division make() {
    // Lines that come from memory may come in few launches, which hardly show in cycles: then those
    // are simulated.
    double fresh = 0;
    for (const Unit& u : units_) fresh += u.features[kFreshLines];
    std::map<uint32_t, Members> groups;
    for (uint32_t i = 0; i < units_.size(); ++i) {
      if (units_[i].features[kFreshLines] * kMuchOf > fresh || units_[i].first < together_)
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
  void find_units();
  Node node_of(Members members) const;
  bool divide_one();
  Numbers allocate() const;
  Division parts_of(const Numbers& allocation) const;
  std::vector<uint32_t> chosen(const Node& node, uint64_t n, uint64_t seed) const;
  void set_weights(LaunchSample& sample, const std::vector<double>& stratum_sizes) const;
  std::string kernels_of(const Unit& unit) const;

  const Recording& recording_;
  double error_;
  uint32_t before_, together_;
  std::vector<bool> cuts_;
  std::vector<uint32_t> alike_;  // by launch: the first one that it repeats
  std::vector<Unit> units_;
  std::vector<Node> nodes_;
};

/// What a launch takes of each, but for kBefore.
Costs costs_of(const LaunchFeatures& f) {
  // Few thread blocks keep few SMs busy.
  const double idle =
      std::max(1.0, kSms / static_cast<double>(std::max<uint64_t>(1, f.thread_blocks)));
  const auto instructions = static_cast<double>(f.warp_instructions);
  Costs costs{};
  costs[kInstructions] = idle * instructions;
  costs[kTransactions] = idle * kTransactionCosts * static_cast<double>(f.transactions);
  costs[kSectors] = idle * kSectorCosts * static_cast<double>(f.sectors);
  costs[kLines] = kLineCosts * static_cast<double>(f.lines);
  costs[kFreshLines] = kFreshLineCosts * static_cast<double>(f.fresh_lines);
  costs[kBlocks] = kBlockCosts * static_cast<double>(f.thread_blocks);
  costs[kChain] = kChainCosts * instructions / static_cast<double>(std::max<uint64_t>(1, f.warps));
  costs[kLanes] = kLanesCount * static_cast<double>(f.thread_instructions) / 32;
  return costs;
}

void Design::find_units() {
  const std::vector<LaunchFeatures> features = launch_features(recording_);
  alike_ = first_alike(recording_);
  std::vector<double> work(1, 0);
  for (const LaunchRecord& l : recording_.launches)
    work.push_back(work.back() + static_cast<double>(l.warp_instructions));
  const std::vector<bool> cuts = cuts_after(cuts_, together_);
  using Kind = std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>>;
  std::map<Kind, uint32_t> groups;
  for (uint32_t first = 0, end = 0; first < recording_.launches.size(); first = end) {
    Unit unit;
    unit.first = first;
    Kind kind;
    do {
      const LaunchRecord& l = recording_.launches[end];
      kind.emplace_back(l.kernel, l.block.x, l.block.y, l.block.z);
      const Costs costs = costs_of(features[end]);
      for (size_t f = 0; f < kFeatures; ++f) unit.features[f] += costs[f];
    } while (!cuts[++end]);
    unit.end = end;
    unit.group = groups.try_emplace(kind, static_cast<uint32_t>(groups.size())).first->second;
    unit.work = work[end] - work[part_of(cuts_, first, end, before_).begin];
    if (first != 0)
      unit.features[kBefore] = kLineBeforeCosts * static_cast<double>(features[first - 1].lines);
    unit.size = std::accumulate(unit.features.begin(), unit.features.end(),
                                kLaunchCosts * (unit.end - unit.first)) -
                unit.features[kLanes];
    units_.push_back(unit);
  }
}

/// Sums over units, for means and variances.
struct Sums {
  double n = 0, size = 0, launches = 0;
  Costs sum{}, squares{};

  void add(const Unit& u, double sign = 1) {
    n += sign;
    size += sign * u.size;
    launches += sign * (u.end - u.first);
    for (size_t f = 0; f < kFeatures; ++f) {
      sum[f] += sign * u.features[f];
      squares[f] += sign * u.features[f] * u.features[f];
    }
  }
  /// Of cycles: of what features show, and of what they do not.
  double deviation(double unseen) const {
    double variance =
        unseen * unseen * size / n * size / n + kLaunchSpread * kLaunchSpread * launches / n;
    for (size_t f = 0; f < kFeatures; ++f) {
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
    return std::equal(alike_.begin() + x.first, alike_.begin() + x.end, alike_.begin() + y.first,
                      alike_.begin() + y.end);
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
  for (size_t f = 0; f < kFeatures; ++f) {
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
  const double most = std::sqrt(error_ * error_ - kStartError * kStartError);
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

/// `n` of a stratum's units: one of each n-th, in the order of sizes, and then of the program.
std::vector<uint32_t> Design::chosen(const Node& node, uint64_t n, uint64_t seed) const {
  Members order = node.members;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return units_[a].size < units_[b].size; });
  std::vector<uint32_t> units;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t begin = i * order.size() / n, end = (i + 1) * order.size() / n;
    units.push_back(order[begin + mixed(seed << 32 ^ i) % (end - begin)]);
  }
  return units;
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
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const bool all = allocation.sampled[i] == node.members.size();
    const Unit& first = units_[node.members[0]];
    for (const uint32_t u : chosen(node, allocation.sampled[i], i))
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
    sample.launches += unit.end - unit.first;
    const bool goes_on = !division.parts.empty() && division.parts.back().end == unit.first &&
                         unit.first != together_ && stratum == SampleUnit::kItself &&
                         sample.parts.back().stratum == SampleUnit::kItself;
    if (goes_on) {
      division.parts.back().end = unit.end;
      sample.parts.back().size += unit.size;
    } else {
      division.parts.push_back(part_of(cuts_, unit.first, unit.end, before_));
      sample.parts.push_back({stratum, 1, unit.size});
    }
  }
  uint64_t work = 0;
  for (const LaunchPart& p : division.parts)
    for (uint32_t i = p.begin; i < p.end; ++i) work += recording_.launches[i].warp_instructions;
  sample.simulated = static_cast<double>(work) / static_cast<double>(recording_.warp_instructions);
  if (sample.simulated > kMostWork) return {};
  set_weights(sample, stratum_sizes);
  division.sample = std::move(sample);
  return division;
}

}  // namespace

Division sample_launches(const Recording& recording, double error, uint32_t before,
                         uint32_t together) {
  if (recording.launches.empty()) return {};
  return Design(recording, error, before, together).make();
}

}  // namespace nearwarp::runtime
