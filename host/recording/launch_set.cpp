// Unions of sets of launches, and the chains that launches are appended to.
#include "host/recording/launch_set.h"

#include <algorithm>
#include <numeric>

namespace nearwarp::runtime {

void LaunchSet::join(const LaunchSet& other) {
  // A stored launch of one set need not be stored in the union if the other set contains it without
  // storing it, since then another launch of that set waits for it.
  std::vector<Last> both;
  auto mine = last_.begin();
  auto theirs = other.last_.begin();
  while (mine != last_.end() || theirs != other.last_.end()) {
    const bool same =
        mine != last_.end() && theirs != other.last_.end() && mine->launch == theirs->launch;
    if (same) {
      both.push_back(*mine++);
      ++theirs;
    } else if (theirs == other.last_.end() ||
               (mine != last_.end() && mine->launch < theirs->launch)) {
      if (!other.has(*mine)) both.push_back(*mine);
      ++mine;
    } else {
      if (!has(*theirs)) both.push_back(*theirs);
      ++theirs;
    }
  }
  last_ = std::move(both);
  counts_.resize(std::max(counts_.size(), other.counts_.size()));
  for (size_t i = 0; i < other.counts_.size(); ++i)
    counts_[i] = std::max(counts_[i], other.counts_[i]);
}

void LaunchHistory::add(LaunchSet& set, LaunchRecord& launch) {
  const uint64_t known = std::accumulate(set.counts_.begin(), set.counts_.end(), uint64_t{0});
  launch.after_all = known == size_;
  launch.after.clear();
  if (!launch.after_all)
    for (const LaunchSet::Last& last : set.last_) launch.after.push_back(last.launch);
  // The launch is appended to a chain that the set contains as a whole, or begins a new one.
  uint32_t chain = 0;
  while (chain < lengths_.size() &&
         (chain >= set.counts_.size() || set.counts_[chain] != lengths_[chain]))
    ++chain;
  if (chain == lengths_.size()) lengths_.push_back(0);
  const uint32_t place = ++lengths_[chain];
  set.counts_.resize(std::max<size_t>(set.counts_.size(), chain + 1));
  set.counts_[chain] = place;
  set.last_ = {{size_, chain, place}};
  size_ += 1;
  all_.join(set);
}

}  // namespace nearwarp::runtime
