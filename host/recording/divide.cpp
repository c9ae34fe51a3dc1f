// A program divided into parts that are simulated side by side.
#include "host/recording/divide.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "host/recording/chunk_touches.h"
#include "host/recording/chunk_walk.h"
#include "host/recording/launch_features.h"
#include "host/recording/record_lines.h"

namespace nearwarp::runtime {
namespace {

/// Lines of warps' accesses cost as much as so many warp-instructions (estimated, from host
/// instructions of kmeans on tom, where it is 1, and of bfs-rmat on coda, where it is 2.3).
constexpr double kTransactionCosts = 1.5;
/// Traces of one thread block in so many are read.
constexpr uint32_t kBlocksRead = 8;
/// Filling caches for a part and making its machine cost this (estimated: 10 to 40 million host
/// instructions, of kmeans, bfs-rmat and graph-colouring at size small, on tom and coda); of a
/// small program, in which there is less to fill, one in so much of its work.
constexpr uint64_t kPartCosts = 20'000, kPartCostsOf = 64;
/// How many parts are tried where that is left open, the most first. More have more at their
/// beginnings to make, and are for who has more cores (PARTS).
constexpr uint32_t kNumbers[] = {16, 12, 8, 6, 4};
/// Such parts do no more twice than one in so much of the program's work. Two cores so are at
/// least 1.84 times as fast as one, if that is all.
constexpr uint64_t kTwice = 12;
/// The part that costs most may cost one in so much more, if less is simulated twice then.
constexpr uint64_t kSlackOf = 32;
/// Only so many cuts of a program that has more are looked at, evenly by work; what lies between is
/// small beside a part.
constexpr size_t kMostCuts = 512;
constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// Transactions of device memory in a chunk, as one thread block in kBlocksRead has them.
uint64_t transactions_of(const TraceChunk& chunk, const compiler::Kernel& kernel) {
  struct Visit {
    const compiler::Kernel& kernel;
    uint64_t transactions = 0;

    void warp(uint64_t, uint32_t) {}
    void run(uint32_t, uint32_t, uint32_t) {}
    void record(uint32_t instruction, uint32_t lanes, const uint64_t* words) {
      if (!is_of_device(kernel.instructions[instruction].mod.space)) return;
      each_line(words, lanes, kFeatureLineShift, [&](uint64_t, uint32_t) { ++transactions; });
    }
  };
  const ChunkWalk walk(kernel);
  Visit visit{kernel};
  uint64_t read = 0;
  for (uint32_t b = 0; b < chunk.num_blocks; b += kBlocksRead, ++read)
    walk.walk(chunk, chunk.first_block + b, chunk.first_block + b + 1, visit);
  return read == 0 ? 0 : visit.transactions * chunk.num_blocks / read;
}

std::vector<uint64_t> costs_of(const Recording& recording) {
  std::vector<uint64_t> costs;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> known;  // by chunk's identity and kernel
  for (const LaunchRecord& l : recording.launches) {
    uint64_t transactions = 0;
    for (uint32_t c = l.first_chunk; c < l.first_chunk + l.num_chunks; ++c) {
      const auto [of, is_new] = known.try_emplace({recording.traces.identity(c), l.kernel}, 0);
      if (is_new)
        of->second = transactions_of(*recording.traces.chunk(c), *recording.kernels[l.kernel]);
      transactions += of->second;
    }
    costs.push_back(l.warp_instructions +
                    static_cast<uint64_t>(kTransactionCosts * static_cast<double>(transactions)));
  }
  return costs;
}

class Divider {
 public:
  Divider(const Recording& recording, uint32_t before, uint32_t together) : done_{0} {
    for (const uint64_t cost : launch_costs(recording)) done_.push_back(done_.back() + cost);
    const std::vector<bool> cuts = launch_cuts(recording);
    const std::vector<bool> of_parts = cuts_after(cuts, together);
    const auto end = static_cast<uint32_t>(cuts.size()) - 1;
    const uint64_t part_costs = std::min(kPartCosts, all() / kPartCostsOf);
    uint64_t next = 0;  // work at which the next cut is looked at
    for (uint32_t i = 0; i <= end; ++i) {
      if (!of_parts[i] || (done_[i] < next && i != end)) continue;
      cuts_.push_back(part_of(cuts, i, i, before));
      lead_.push_back(i == 0 ? 0 : part_costs + done_[i] - done_[cuts_.back().begin]);
      next = done_[i] + (end > kMostCuts ? done_.back() / kMostCuts : 0);
    }
  }

  uint64_t all() const { return done_.back(); }

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
    std::vector<LaunchPart> parts = {};
    uint64_t twice = 0;  ///< what is done before parts
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
    Plan plan;
    plan.twice = twice[best].back();
    for (size_t e = cuts_.size() - 1; e != 0; e = from[best--][e]) {
      LaunchPart part = cuts_[from[best][e]];
      part.end = cuts_[e].first;
      plan.parts.push_back(part);
    }
    std::ranges::reverse(plan.parts);
    return plan;
  }

  Plan with(uint32_t most) const {
    if (cuts_.size() < 2) return {};
    most = static_cast<uint32_t>(std::min<size_t>(most, cuts_.size() - 1));  // a part a cut
    const uint64_t bound = least_bound(most);
    Plan even = within(most, bound), less = within(most, bound + bound / kSlackOf);
    return less.twice < even.twice ? less : even;
  }

 private:
  uint64_t cost_of(size_t begin, size_t end) const {
    return lead_[begin] + done_[cuts_[end].first] - done_[cuts_[begin].first];
  }

  std::vector<uint64_t> done_;    // by launch: all before it
  std::vector<LaunchPart> cuts_;  // without an end: the program's beginning, where a part may begin
  std::vector<uint64_t> lead_;    // by cut: what is done before a part that begins there
};

}  // namespace

std::vector<uint64_t> launch_costs(const Recording& recording) {
  return *recording.studies->of<std::vector<uint64_t>>("costs of launches",
                                                       [&] { return costs_of(recording); });
}

std::vector<LaunchPart> divide(const Recording& recording, uint32_t most, uint32_t before,
                               uint32_t together) {
  const Divider divider(recording, before, together);
  if (most != 0) return divider.with(most).parts;
  for (const uint32_t n : kNumbers) {
    Divider::Plan plan = divider.with(n);
    if (plan.parts.size() == n && plan.twice <= divider.all() / kTwice) return plan.parts;
  }
  return divider.with(2).parts;
}

}  // namespace nearwarp::runtime
