// Configurations of points in words: keys with their values, and how they differ from the files.
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

/// Machines or policies of points that are asked for in their order: a file is read once, and a
/// configuration described once for points that have it one after the other.
template <class Config>
class Descriptions {
 public:
  struct Described {
    std::shared_ptr<const Config> config;
    std::string text;                ///< "key = value" of all keys, a line each
    nlohmann::ordered_json changes;  ///< keys with values other than the file's
  };

  /// All keys of a file.
  const std::vector<config::KeyDescription>& file(const std::string& name);
  /// `config` is of the file `name` with other values.
  const Described& of(const std::string& name, std::shared_ptr<const Config> config);

 private:
  std::unordered_map<std::string, std::vector<config::KeyDescription>> files_;
  std::unordered_map<std::string, std::unordered_set<std::string>> lines_;  ///< of files' texts
  std::unordered_map<std::string, Described> last_;                         ///< by file
};

/// The points of plans, in words.
class DescribedPoints {
 public:
  /// 16 hexadecimal digits: a hash of every key of machine, energy file and policy with its value;
  /// empty for a point that cannot be had with these values.
  std::string hash(const sweep::Plan& plan, const sweep::Point& point);
  /// Keys of machine and policy with values other than the files'; none of a point that cannot be
  /// had.
  nlohmann::ordered_json changes(const sweep::Plan& plan, const sweep::Point& point);

  Descriptions<config::MachineConfig> machines;
  Descriptions<config::PolicyConfig> policies;
};

}  // namespace nearwarp::experiment
