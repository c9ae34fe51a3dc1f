// A policy: the mechanisms that a simulation uses, and their settings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/tables.h"

namespace nearwarp::config {

struct PolicyConfig {
  std::string name;         ///< file name without ".toml"
  std::string path;         ///< the file that it was read from
  std::string description;  ///< [policy] description
  /// [policy] mechanism: "none", or names of mechanisms joined by "+"
  std::string mechanism;
  std::string mapping;  ///< [policy] mapping: "bmap", or a mapping of a mechanism

  struct Dispatch {           // [dispatch]
    uint32_t groups = 1;      ///< groups of SMs, each with its own queue of thread blocks
    uint32_t row_blocks = 0;  ///< consecutive blocks for one group; 0: as many as its SMs can hold
    bool even_rows = false;   ///< each group gets one run of consecutive blocks of a launch
    bool steal = false;       ///< a group with an empty queue takes blocks from the longest one
    std::string sms = "in-turn";    ///< the SM for the next block: "in-turn" or "fill"
    std::string first_sm = "next";  ///< a launch's first SM for "in-turn": "next" or "first"
  } dispatch;

  /// Settings of the mechanisms; their structures are in the mechanisms' folders (settings.h).
  Tables tables;
  template <class T>
  const T& table() const {
    return tables.of<T>();
  }
  template <class T>
  T& table() {
    return tables.of<T>();
  }

  /// Overrides ("key=value") of keys that none of the policy's mechanisms has.
  std::vector<std::string> without_effect;
};

/// Names of the policy's mechanisms in their order; empty for "none".
std::vector<std::string_view> mechanisms_of(const PolicyConfig& policy);
/// Has the policy this mechanism?
bool has_mechanism(const PolicyConfig& policy, std::string_view name);

}  // namespace nearwarp::config
