// Parameters in the name of a program: "decode-step:batch=8:context=4096".
#pragma once

#include <optional>
#include <string>

namespace nearwarp::experiment {

/// A dimension or term that asks for one begins so: "workload.batch".
inline constexpr const char* kWorkloadParameter = "workload.";

/// The value of `parameter`, if the name sets it; "name": what stands before the first parameter.
inline std::optional<std::string> parameter_in(const std::string& program,
                                               const std::string& parameter) {
  size_t end = program.find(':');
  if (parameter == "name") return program.substr(0, end);
  while (end != std::string::npos) {
    const size_t begin = end + 1;
    end = program.find(':', begin);
    const std::string one = program.substr(begin, end == std::string::npos ? end : end - begin);
    if (one.starts_with(parameter + "=")) return one.substr(parameter.size() + 1);
  }
  return std::nullopt;
}

}  // namespace nearwarp::experiment
