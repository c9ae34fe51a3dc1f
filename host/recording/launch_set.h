// Sets of launches that something waits for, kept as short as what recordings tell of them.
#pragma once

#include <cstdint>
#include <vector>

#include "host/recording/recording.h"

namespace nearwarp::runtime {

/// Launches of a recording; with each one, all that it waits for. Only those that no other of the
/// set waits for are kept by name. The rest follows from counts: launches are numbered along
/// chains, in each of which one waits for the one before, so a set has of each chain the first so
/// many.
class LaunchSet {
 public:
  /// Add all of another set (of the same LaunchHistory).
  void join(const LaunchSet& other);
  bool empty() const { return last_.empty(); }

 private:
  friend class LaunchHistory;
  struct Last {
    uint32_t launch = 0;  ///< index into Recording::launches
    uint32_t chain = 0;
    uint32_t place = 0;  ///< in its chain, from 1 on
  };
  bool has(const Last& launch) const {
    return launch.chain < counts_.size() && counts_[launch.chain] >= launch.place;
  }
  std::vector<Last> last_;        // that no other waits for, ascending
  std::vector<uint32_t> counts_;  // by chain
};

/// The launches of a recording as they come.
class LaunchHistory {
 public:
  /// The next launch waits for `set`, which then has it, too: fills in `after_all` and `after`.
  void add(LaunchSet& set, LaunchRecord& launch);
  /// Every launch so far.
  const LaunchSet& all() const { return all_; }
  /// How many there are: the index of the next.
  uint32_t size() const { return size_; }

 private:
  uint32_t size_ = 0;
  std::vector<uint32_t> lengths_;  // of chains
  LaunchSet all_;
};

}  // namespace nearwarp::runtime
