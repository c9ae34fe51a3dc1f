// A program divided into parts that are simulated side by side.
#include "host/recording/divide.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include "host/recording/launch_costs.h"

namespace nearwarp::runtime {
namespace {

/// Filling caches for a part and making its machine cost this (estimated: 10 to 40 million host
/// instructions, of kmeans, bfs-rmat and graph-colouring at size small, on tom and coda); of a
/// small program, in which there is less to fill, one in so much of its work.
constexpr uint64_t kPartCosts = 20'000, kPartCostsOf = 64;
/// How many parts are tried where that is left open, in halves of the cores that there are. More
/// have more at their beginnings to make, and are for who has more cores (PARTS).
constexpr uint32_t kHalvesOfCores[] = {2, 3, 4, 6, 8, 12, 16};
/// Work that is done twice counts by one in so much besides the time that it takes: cores that
/// others could use do it (estimated).
constexpr uint64_t kTwiceCounts = 8;
/// Threads that step one machine wait for each other in one of so many of its windows, as it were:
/// with two of them it takes six tenths of the time (estimated; docs/speed.md has 1.5 to 1.9 times
/// as fast).
constexpr uint64_t kApartOf = 5;
/// The part that costs most may cost one in so much more, if less is simulated twice then.
constexpr uint64_t kSlackOf = 32;
/// Only so many cuts of a program that has more are looked at, evenly by work; what lies between is
/// small beside a part.
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

  /// The costs of the part that costs most, in a division into at most so many.
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
    uint64_t twice = 0;           ///< what is done before parts
  };

  /// At most so many parts, none of which costs more than the bound and which do least twice.
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

  Plan with(uint32_t most) const {
    if (cuts_.size() < 2) return {};
    most = static_cast<uint32_t>(std::min<size_t>(most, cuts_.size() - 1));  // a part a cut
    const uint64_t bound = least_bound(most);
    Plan even = within(most, bound), less = within(most, bound + bound / kSlackOf);
    return less.twice < even.twice ? less : even;
  }

  /// As many parts as suit so many cores, in whatever sizes.
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

  /// The time of parts on so many cores, each on the first core that is free, in their order, where
  /// cores for which none is left help with those that are; and some for what they do twice: the
  /// most that it may be, whatever transactions cost, to the program's costs as they usually are.
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

  /// When all parts have ended if the last ones would do so at `free_at_` without help.
  uint64_t helped() {
    std::ranges::sort(free_at_);
    const uint64_t cores = free_at_.size();
    uint64_t end = 0;
    for (uint64_t i = 0, before = 0; i < cores; before = free_at_[i++]) {
      const uint64_t threads = cores / (cores - i);  // for each of those that are left
      end += (free_at_[i] - before) * (kApartOf - 1 + threads) / (kApartOf * threads);
    }
    return end;
  }

  /// Moves beginnings of parts, two neighbours at a time, as long as that makes costs less. Returns
  /// these.
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

  /// Costs if a transaction costs so much.
  struct Costs {
    std::vector<uint64_t> done;  ///< by launch: of all before it
    std::vector<uint64_t> lead;  ///< by cut: of what is done before a part that begins there
  };
  static constexpr size_t kModels = std::size(kTransactionCosts);

  Costs costs_[kModels];
  const std::vector<uint64_t>&done_ = costs_[1].done, &lead_ = costs_[1].lead;  // usually
  std::vector<LaunchPart> cuts_;  // without an end: the program's beginning, where a part may begin
  std::vector<uint64_t> free_at_;  // of costs_on(), by core
};

}  // namespace

std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together, uint32_t cores) {
  Divider divider(recording, before, together);
  return divider.parts_of(most != 0 ? divider.with(most) : divider.for_cores(cores));
}

}  // namespace nearwarp::runtime
