// A policy: which mechanisms are in use and how they are set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/tables.h"

namespace nearwarp::config {

struct PolicyConfig {
  std::string name;         ///< file name without ".toml"
  std::string path;         ///< where it was read from
  std::string description;  ///< [policy] description
  /// [policy] mechanism: "none", or names of mechanisms joined by "+"
  std::string mechanism;
  std::string mapping;  ///< [policy] mapping: "bmap", or one of a mechanism's

  struct Dispatch {                 // [dispatch]
    uint32_t groups = 1;            ///< of SMs, each with its own queue of thread blocks
    uint32_t row_blocks = 0;        ///< blocks in a row for a group; 0: what its SMs hold at a time
    bool even_rows = false;         ///< every group has one row of a launch
    bool steal = false;             ///< a group without blocks takes from the longest queue
    std::string sms = "in-turn";    ///< "in-turn" or "fill"
    std::string first_sm = "next";  ///< in turn, of a launch: "next" to the last one's, or "first"
  } dispatch;

  /// Tables of mechanisms, whose folders have their structures (settings.h).
  Tables tables;
  template <class T>
  const T& table() const {
    return tables.of<T>();
  }
  template <class T>
  T& table() {
    return tables.of<T>();
  }

  /// Overrides ("key=value") of keys that none of its mechanisms has.
  std::vector<std::string> without_effect;
};

/// Names of its mechanisms, in its order; "none" is none.
std::vector<std::string_view> mechanisms_of(const PolicyConfig& policy);
/// Is this one among them?
bool has_mechanism(const PolicyConfig& policy, std::string_view name);

}  // namespace nearwarp::config
