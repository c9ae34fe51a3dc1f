// Readers that are given damaged inputs.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace nearwarp::fuzz {

struct Target {
  std::string name;
  std::vector<std::string> corpus;               ///< valid inputs
  std::function<void(const std::string&)> read;  ///< throws nearwarp::Error for what is wrong
};

/// `folder`: for those that read files.
std::vector<Target> targets(const std::string& folder);

}  // namespace nearwarp::fuzz
