// The machines and policies of a sweep's points. A sweep may have a million of each: what is kept
// of all of them is what tells them apart; they themselves are loaded again when they are asked
// for.
#pragma once

#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/config/config.h"
#include "host/core/hash.h"

namespace nearwarp::sweep {

/// Machines, or policies: each named with overrides of its own keys.
template <class Config>
class Configurations {
 public:
  using Load = Config (config::Loader::*)(const std::string&, std::span<const std::string>);
  explicit Configurations(Load load) : load_(load) {}

  /// What is known of a configuration for good.
  struct Known {
    Hash128 values;     ///< of name, keys and values
    std::string error;  ///< why it cannot be had; empty if it can
  };
  /// Checks one that was not there before. Throws UsageError for what no combination could have.
  const Known& check(const std::string& name, const std::vector<std::string>& overrides);

  /// The configuration; null if it cannot be had. Those loaded last are kept. Thread-safe.
  std::shared_ptr<const Config> get(const std::string& name,
                                    const std::vector<std::string>& overrides);

  /// Of those that can be had, one for each name and whatever is of no effect under it.
  std::vector<const Config*> kinds() const;

  /// Throws what is wrong with a name that cannot be had in any combination checked.
  void refuse_impossible() const;

 private:
  struct Tally {
    size_t good = 0;
    std::exception_ptr first_error;
  };
  std::shared_ptr<const Config> keep(const std::string& key, Config config);

  config::Loader loader_;
  Load load_;
  std::unordered_map<std::string, Known> known_;
  std::map<std::string, Tally> tallies_;
  std::map<std::string, std::shared_ptr<const Config>> kinds_;
  std::mutex mutex_;  ///< of what follows, and the loader
  std::unordered_map<std::string, std::shared_ptr<const Config>> kept_;
  std::deque<std::string> order_;  ///< of kept_, the one that goes first in front
};

}  // namespace nearwarp::sweep
