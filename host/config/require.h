// Helpers for rules between keys, which throw an Error with the key's place if a rule is broken.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/config/machine.h"
#include "host/core/error.h"

namespace nearwarp::config {

/// The largest latency of a channel, in interconnect cycles.
uint64_t longest_latency_cycles(const MachineConfig& machine);

/// Returns the place that has set a key, for messages.
using PlaceOf = std::function<std::string(std::string_view path)>;

class Rules {
 public:
  explicit Rules(const PlaceOf& place_of) : place_of_(place_of) {}
  const PlaceOf& places() const { return place_of_; }

  /// Throws an Error about `key` unless `holds`; `wrong` and `right` say what is wrong and what
  /// would be right.
  void require(bool holds, std::string_view key, const std::string& wrong,
               const std::string& right) const {
    if (!holds) fail(key, wrong, right);
  }
  void multiple(std::string_view key, uint64_t value, std::string_view of, uint64_t unit) const {
    require(unit != 0 && value % unit == 0, key, fmt::format("is {}", value),
            fmt::format("it must be a multiple of {}, {}", of, unit));
  }
  void at_least(std::string_view key, uint64_t value, std::string_view other,
                uint64_t limit) const {
    require(value >= limit, key, fmt::format("is {}", value),
            fmt::format("it must be at least {}, {}", other, limit));
  }
  void at_most(std::string_view key, uint64_t value, std::string_view other, uint64_t limit) const {
    require(value <= limit, key, fmt::format("is {}", value),
            fmt::format("it must be at most {}, {}", other, limit));
  }

 private:
  [[noreturn]] void fail(std::string_view key, const std::string& wrong,
                         const std::string& right) const;

  const PlaceOf& place_of_;
};

}  // namespace nearwarp::config
