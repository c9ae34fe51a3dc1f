// Sets of launches that a launch or a stream waits for, in the short form that recordings have.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// A set of launches which with each launch contains all that it waits for. Only launches that no
/// other one of the set waits for are stored by index. Counts tell the others: launches form
/// chains, in which each waits for the one before, so the set contains the first launches of each
/// chain, up to its count.
class LaunchSet {
 public:
  /// Add all launches of another set (of the same LaunchHistory).
  void join(const LaunchSet& other);
  bool empty() const { return last_.empty(); }

 private:
  friend class LaunchHistory;
  struct Last {
    uint32_t launch = 0;  ///< index into Recording::launches
    uint32_t chain = 0;
    uint32_t place = 0;  ///< its number in the chain, from 1 on
  };
  bool has(const Last& launch) const {
    return launch.chain < counts_.size() && counts_[launch.chain] >= launch.place;
  }
  std::vector<Last> last_;        // launches that no other of the set waits for, ascending
  std::vector<uint32_t> counts_;  // by chain, the number of its launches in the set
};

/// The launches of a recording so far.
class LaunchHistory {
 public:
  /// Add a launch that waits for `set`: fill in its `after_all` and `after`, and add it to `set`.
  void add(LaunchSet& set, LaunchRecord& launch);
  const LaunchSet& all() const { return all_; }
  /// Number of launches, which is the index of the next one.
  uint32_t size() const { return size_; }

 private:
  uint32_t size_ = 0;
  std::vector<uint32_t> lengths_;  // by chain, its number of launches
  LaunchSet all_;
};

}  // namespace nearwarp::runtime
