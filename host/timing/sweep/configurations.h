// The machines and policies of a sweep's points. A sweep may have a million of each: they are
// loaded when they are asked for, and what is kept of them is what tells them apart.
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

/// Machines, or policies: each named with overrides of its own keys. Combinations of a name and
/// overrides have numbers, which the caller gives them. Thread-safe.
template <class Config>
class Configurations {
 public:
  using Load = Config (config::Loader::*)(const std::string&, std::span<const std::string>);
  explicit Configurations(Load load) : load_(load) {}

  /// There will be so many combinations.
  void expect(size_t combinations) { known_.resize(combinations); }

  /// Facts of a configuration that are kept for good.
  struct Known {
    Hash128 values;                      ///< of name, keys and values
    const std::string* error = nullptr;  ///< why it cannot be had; null if it can
    bool checked = false;
  };
  /// Loads it if it was not checked before. Throws UsageError for what no combination could have.
  const Known& check(size_t combination, const std::string& name,
                     const std::vector<std::string>& overrides);

  /// The configuration; null if it cannot be had. Those loaded last are kept.
  std::shared_ptr<const Config> get(size_t combination, const std::string& name,
                                    const std::vector<std::string>& overrides);

  /// The configurations that were checked and can be had, one for each name and whatever is of no
  /// effect under it.
  std::vector<const Config*> kinds() const;

  /// Could one with this name be had, of those checked?
  bool is_possible(const std::string& name) const;
  /// Throws what was wrong with the first one of that name.
  [[noreturn]] void refuse(const std::string& name) const;

 private:
  struct Tally {
    size_t good = 0;
    std::exception_ptr first_error;
  };
  const Known& check_locked(size_t combination, const std::string& name,
                            const std::vector<std::string>& overrides);
  std::shared_ptr<const Config> keep(size_t combination, Config config);

  config::Loader loader_;
  Load load_;
  std::mutex mutex_;
  std::vector<Known> known_;
  std::deque<std::string> errors_;
  std::map<std::string, Tally> tallies_;
  std::map<std::string, std::shared_ptr<const Config>> kinds_;
  std::unordered_map<size_t, std::shared_ptr<const Config>> kept_;
  std::deque<size_t> order_;  ///< of kept_, the one that goes first in front
};

}  // namespace nearwarp::sweep
