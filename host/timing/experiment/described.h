// Descriptions of points' configurations: keys with their values, and differences from the files.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "host/config/config.h"
#include "host/timing/sweep/plan.h"

namespace nearwarp::experiment {

/// Describes the machines or policies of points. A file is read once. A configuration that
/// consecutive points share is described once.
template <class Config>
class Descriptions {
 public:
  struct Described {
    std::shared_ptr<const Config> config;
    std::string text;  ///< a line "key = value" for each key
    nlohmann::ordered_json
        changes;  ///< keys whose values differ from the file's, with these values
  };

  /// The keys of the file `name`, with their values.
  const std::vector<config::KeyDescription>& file(const std::string& name);
  /// Describe `config`, which is the file `name` with some values changed.
  const Described& of(const std::string& name, std::shared_ptr<const Config> config);

 private:
  std::unordered_map<std::string, std::vector<config::KeyDescription>> files_;
  std::unordered_map<std::string, std::unordered_set<std::string>> lines_;  ///< of files' texts
  std::unordered_map<std::string, Described> last_;                         ///< by file
};

/// Describes the points of plans.
class DescribedPoints {
 public:
  /// A hash, as 16 hexadecimal digits, of every key of machine, energy file and policy with its
  /// value; empty for a point whose values are not allowed.
  std::string hash(const sweep::Plan& plan, const sweep::Point& point);
  /// The keys of machine and policy whose values differ from the files'; none for a point whose
  /// values are not allowed.
  nlohmann::ordered_json changes(const sweep::Plan& plan, const sweep::Point& point);

  Descriptions<config::MachineConfig> machines;
  Descriptions<config::PolicyConfig> policies;
};

}  // namespace nearwarp::experiment
