// Parameters that may follow a workload's name: "decode-step:batch=8:context=4096".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nearwarp::workloads {

/// A number between two bounds, or one of several words.
struct Parameter {
  std::string name;
  std::string description;
  int64_t least = 0, most = 0;
  std::vector<std::string> words;
};

/// "1 to 64", or "f16, bf16".
std::string range_of(const Parameter& parameter);

/// Values of some of a workload's parameters.
class Values {
 public:
  Values() = default;
  explicit Values(std::map<std::string, std::string> values) : values_(std::move(values)) {}
  int number(const std::string& parameter, int otherwise) const;
  std::string word(const std::string& parameter, const std::string& otherwise) const;

 private:
  std::map<std::string, std::string> values_;
};

/// Reads "batch=8:context=4096"; throws nearwarp::UsageError, which says what `workload` takes.
Values parse_values(const std::string& workload, const std::vector<Parameter>& parameters,
                    const std::string& text);

}  // namespace nearwarp::workloads
