// Divides a program into parts that are simulated in parallel, by dynamic programming over the cuts
// and, for a number of cores, by moving the parts' beginnings.
#include "host/recording/divide.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include "host/recording/launch_costs.h"

namespace nearwarp::runtime {
namespace {

/// The cost of making a part's machine and filling its caches, in the units of launch_costs()
/// (estimated: 10 to 40 million host instructions, of kmeans, bfs-rmat and graph-colouring at size
/// small, on tom and coda). For a small program, which fills less, it is a 64th of its work.
constexpr uint64_t kPartCosts = 20'000, kPartCostsOf = 64;
/// The numbers of parts that are tried if none is given, in halves of the number of cores. More
/// parts repeat more work, and only suit hosts with more cores, whose users give a number.
constexpr uint32_t kHalvesOfCores[] = {2, 3, 4, 6, 8, 12, 16};
/// An eighth of the repeated work is added to the time of a division, since other processes could
/// use the cores that do it (estimated).
constexpr uint64_t kTwiceCounts = 8;
/// A fifth of a machine's work is not shared by the threads that step it: two threads take six
/// tenths of the time of one (estimated; docs/speed.md has 1.5 to 1.9 times as fast).
constexpr uint64_t kApartOf = 5;
/// The largest part may cost a 32nd more than necessary, if less work is repeated then.
constexpr uint64_t kSlackOf = 32;
/// The most cuts of a program that are considered, evenly spread over its work. Between two of them
/// lies little work beside that of a part.
constexpr size_t kMostCuts = 512;
constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

class Divider {
 public:
  Divider(const Recording& recording, uint32_t before, uint32_t together) {
    for (size_t m = 0; m < kModels; ++m) {
      costs_[m].done = {0};
      for (const uint64_t cost : launch_costs(recording, kTransactionCosts[m]))
        costs_[m].done.push_back(costs_[m].done.back() + cost);
    }
    const std::vector<bool> cuts = launch_cuts(recording);
    const std::vector<bool> of_parts = cuts_after(cuts, together);
    const auto end = static_cast<uint32_t>(cuts.size()) - 1;
    uint64_t next = 0;  // work at which the next cut is looked at
    for (uint32_t i = 0; i <= end; ++i) {
      if (!of_parts[i] || (done_[i] < next && i != end)) continue;
      cuts_.push_back(part_of(cuts, i, i, before));
      for (Costs& c : costs_)
        c.lead.push_back(i == 0 ? 0
                                : std::min(kPartCosts, c.done.back() / kPartCostsOf) + c.done[i] -
                                      c.done[cuts_.back().begin]);
      next = done_[i] + (end > kMostCuts ? done_.back() / kMostCuts : 0);
    }
  }

  /// The least possible cost of the most expensive part, in a division into at most `most` parts.
  uint64_t least_bound(uint32_t most) const {
    uint64_t least = kNone;
    std::vector<uint64_t> bound(cuts_.size(), kNone);
    bound[0] = 0;
    for (uint32_t n = 0; n < most; ++n) {
      std::vector<uint64_t> next(cuts_.size(), kNone);
      for (size_t e = 1; e < cuts_.size(); ++e)
        for (size_t s = e; s-- > 0;) {
          const uint64_t cost = cost_of(s, e);
          if (done_[cuts_[e].first] - done_[cuts_[s].first] >= next[e]) break;
          if (bound[s] != kNone) next[e] = std::min(next[e], std::max(bound[s], cost));
        }
      bound = std::move(next);
      least = std::min(least, bound.back());
    }
    return least;
  }

  struct Plan {
    std::vector<size_t> at = {};  ///< the cut at which each part begins, and the program's end
    uint64_t twice = 0;           ///< cost of all lead-ins
  };

  /// The division into at most `most` parts, each of at most the cost `bound`, with the least
  /// repeated work.
  Plan within(uint32_t most, uint64_t bound) const {
    std::vector<std::vector<uint64_t>> twice(most + 1, std::vector<uint64_t>(cuts_.size(), kNone));
    std::vector<std::vector<size_t>> from(most + 1, std::vector<size_t>(cuts_.size(), 0));
    twice[0][0] = 0;
    uint32_t best = 0;
    for (uint32_t n = 1; n <= most; ++n) {
      for (size_t e = 1; e < cuts_.size(); ++e)
        for (size_t s = e; s-- > 0;) {
          if (done_[cuts_[e].first] - done_[cuts_[s].first] > bound) break;
          if (twice[n - 1][s] == kNone || cost_of(s, e) > bound) continue;
          if (twice[n - 1][s] + lead_[s] >= twice[n][e]) continue;
          twice[n][e] = twice[n - 1][s] + lead_[s];
          from[n][e] = s;
        }
      if (twice[n].back() < (best == 0 ? kNone : twice[best].back())) best = n;
    }
    Plan plan{{cuts_.size() - 1}, twice[best].back()};
    while (plan.at.back() != 0) plan.at.push_back(from[best--][plan.at.back()]);
    std::ranges::reverse(plan.at);
    return plan;
  }

  /// The division into at most `most` parts, as divide() describes it.
  Plan with(uint32_t most) const {
    if (cuts_.size() < 2) return {};
    most = static_cast<uint32_t>(
        std::min<size_t>(most, cuts_.size() - 1));  // a part begins at each cut
    const uint64_t bound = least_bound(most);
    Plan even = within(most, bound), less = within(most, bound + bound / kSlackOf);
    return less.twice < even.twice ? less : even;
  }

  /// The division for a number of cores, as divide() describes it.
  Plan for_cores(uint32_t cores) {
    Plan best = with(1);
    if (cuts_.size() < 2) return best;
    uint64_t least = costs_on(cores, best.at);
    for (const uint32_t halves : kHalvesOfCores) {
      Plan plan = with(std::max(2u, cores * halves / 2));
      const uint64_t costs = move(cores, plan);
      if (costs < least) {
        least = costs;
        best = std::move(plan);
      }
      if (uint64_t{cores} * halves / 2 >= cuts_.size() - 1) break;  // more are the same
    }
    return best;
  }

  std::vector<LaunchPart> parts_of(const Plan& plan) const {
    std::vector<LaunchPart> parts;
    for (size_t i = 0; i + 1 < plan.at.size(); ++i) {
      parts.push_back(cuts_[plan.at[i]]);
      parts.back().end = cuts_[plan.at[i + 1]].first;
    }
    return parts;
  }

 private:
  uint64_t cost_of(size_t begin, size_t end) const {
    return lead_[begin] + done_[cuts_[end].first] - done_[cuts_[begin].first];
  }

  /// The cost of a division on a number of cores: the time until all parts are done, with a share
  /// of the repeated work. The parts begin in their order, each on the first core that is free, and
  /// cores without a part help with the others. Of the models of transaction costs, the one with
  /// the largest cost relative to the program's is taken, scaled to the usual model.
  uint64_t costs_on(uint32_t cores, const std::vector<size_t>& at) {
    uint64_t most = 0;
    for (const Costs& c : costs_) {
      free_at_.assign(cores, 0);  // a heap, the first one on top
      uint64_t twice = 0;
      for (size_t i = 0; i + 1 < at.size(); ++i) {
        std::ranges::pop_heap(free_at_, std::greater());
        free_at_.back() +=
            c.lead[at[i]] + c.done[cuts_[at[i + 1]].first] - c.done[cuts_[at[i]].first];
        std::ranges::push_heap(free_at_, std::greater());
        twice += c.lead[at[i]];
      }
      const double share = static_cast<double>(helped() + twice / kTwiceCounts) /
                           static_cast<double>(std::max<uint64_t>(1, c.done.back()));
      most = std::max(most, static_cast<uint64_t>(share * static_cast<double>(done_.back())));
    }
    return most;
  }

  /// The time at which all parts have ended, if cores without a part help those that still have
  /// one. `free_at_` has the times at which the cores would end without help.
  uint64_t helped() {
    std::ranges::sort(free_at_);
    const uint64_t cores = free_at_.size();
    uint64_t end = 0;
    for (uint64_t i = 0, before = 0; i < cores; before = free_at_[i++]) {
      const uint64_t threads = cores / (cores - i);  // threads for each of the remaining parts
      end += (free_at_[i] - before) * (kApartOf - 1 + threads) / (kApartOf * threads);
    }
    return end;
  }

  /// Moves the beginnings of parts, two neighbours at a time, as long as that lowers costs_on().
  /// Returns the costs.
  uint64_t move(uint32_t cores, Plan& plan) {
    std::vector<size_t> at = plan.at;
    uint64_t least = costs_on(cores, at);
    const auto look = [&] {
      const uint64_t costs = costs_on(cores, at);
      if (costs >= least) return false;
      least = costs;
      plan.at = at;
      return true;
    };
    for (bool is_better = true; is_better;) {
      is_better = false;
      for (size_t i = 1; i + 1 < at.size(); ++i) {
        const bool two = i + 2 < at.size();
        const size_t end = at[two ? i + 2 : i + 1];
        for (at[i] = at[i - 1] + 1; at[i] < end; ++at[i]) {
          if (!two) is_better |= look();
          if (!two) continue;
          for (at[i + 1] = at[i] + 1; at[i + 1] < end; ++at[i + 1]) is_better |= look();
        }
        at = plan.at;
      }
    }
    return least;
  }

  /// Costs by one of the models of what a transaction costs (kTransactionCosts).
  struct Costs {
    std::vector<uint64_t> done;  ///< by launch, the cost of all launches before it
    std::vector<uint64_t> lead;  ///< by cut, the cost of the lead-in of a part that begins there
  };
  static constexpr size_t kModels = std::size(kTransactionCosts);

  Costs costs_[kModels];
  const std::vector<uint64_t>&done_ = costs_[1].done, &lead_ = costs_[1].lead;  // usual model
  // The places where a part may begin, the program's beginning and its end, as parts without an
  // end.
  std::vector<LaunchPart> cuts_;
  std::vector<uint64_t> free_at_;  // by core, used by costs_on()
};

}  // namespace

std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together, uint32_t cores) {
  Divider divider(recording, before, together);
  return divider.parts_of(most != 0 ? divider.with(most) : divider.for_cores(cores));
}

}  // namespace nearwarp::runtime
