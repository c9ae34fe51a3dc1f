// How rules between keys are written, and what breaking one says.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/config/machine.h"
#include "host/core/error.h"

namespace nearwarp::config {

/// Latencies of channels in interconnect cycles are at most so many.
uint64_t longest_latency_cycles(const MachineConfig& machine);

/// Says where a key got its value, for messages.
using PlaceOf = std::function<std::string(std::string_view path)>;

class Rules {
 public:
  explicit Rules(const PlaceOf& place_of) : place_of_(place_of) {}
  const PlaceOf& places() const { return place_of_; }

  /// `holds`, or an Error about `key`: what is wrong, and what would be right.
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
