// An axis of a sweep besides workload, machine and policy: the values of a --set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/config/machine.h"
#include "host/config/policy.h"

namespace nearwarp::sweep {

/// A configuration key and the values that it takes, in the order given.
struct Axis {
  struct Value {
    std::string given;  ///< as on the command line
    std::string toml;   ///< as written in TOML, the same for all ways to write a value
  };
  std::string key;
  std::vector<Value> values;
  bool of_machine = false, of_policy = false;  ///< whose key it is

  /// "key=value", for config::load_machine() and config::load_policy().
  std::string override_text(size_t value) const { return key + "=" + values[value].given; }
};

/// The key's value in a loaded configuration, as written in TOML; empty if it has no such key, or
/// one that is kept otherwise (times, once they are cycles).
std::string own_value(const config::MachineConfig& machine, const std::string& key);
std::string own_value(const config::PolicyConfig& policy, const std::string& key);

/// Reads "key=a,b,c". Values are separated by commas outside of double quotes. Throws UsageError
/// for a key that does not exist and a value that its key does not allow.
Axis parse_axis(std::string_view text);

}  // namespace nearwarp::sweep
