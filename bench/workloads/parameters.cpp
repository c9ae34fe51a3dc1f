#include "bench/workloads/parameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "host/core/error.h"

namespace nearwarp::workloads {
namespace {

bool allowed(const Parameter& p, const std::string& value) {
  if (!p.words.empty()) return std::find(p.words.begin(), p.words.end(), value) != p.words.end();
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
  return failed == std::errc{} && end == value.data() + value.size() && number >= p.least &&
         number <= p.most;
}

}  // namespace

std::string range_of(const Parameter& p) {
  return p.words.empty() ? fmt::format("{} to {}", p.least, p.most)
                         : fmt::format("{}", fmt::join(p.words, ", "));
}

int Values::number(const std::string& parameter, int otherwise) const {
  const auto at = values_.find(parameter);
  return at == values_.end() ? otherwise : std::stoi(at->second);
}
std::string Values::word(const std::string& parameter, const std::string& otherwise) const {
  const auto at = values_.find(parameter);
  return at == values_.end() ? otherwise : at->second;
}

Values parse_values(const std::string& workload, const std::vector<Parameter>& parameters,
                    const std::string& text) {
  if (parameters.empty())
    throw UsageError(
        fmt::format("workload '{}' has no parameters, but ':{}' follows its name - "
                    "'nearwarp list workloads' says which have",
                    workload, text));
  std::string takes;
  for (const Parameter& p : parameters)
    takes += fmt::format("{}{} ({})", takes.empty() ? "" : ", ", p.name, range_of(p));
  std::map<std::string, std::string> values;
  std::istringstream all(text + ":");
  for (std::string one; std::getline(all, one, ':');) {
    const size_t equals = one.find('=');
    const std::string name = one.substr(0, equals);
    const auto p = std::find_if(parameters.begin(), parameters.end(),
                                [&](const Parameter& each) { return each.name == name; });
    if (p == parameters.end())
      throw UsageError(
          fmt::format("workload '{}' has no parameter '{}' - it has {}", workload, name, takes));
    const std::string value = equals == std::string::npos ? "" : one.substr(equals + 1);
    if (!allowed(*p, value))
      throw UsageError(fmt::format("parameter '{}' of workload '{}' cannot be '{}' - valid: {}",
                                   name, workload, value, range_of(*p)));
    if (!values.emplace(name, value).second)
      throw UsageError(
          fmt::format("parameter '{}' of workload '{}' is there twice - it takes one "
                      "value",
                      name, workload));
  }
  return Values(std::move(values));
}

}  // namespace nearwarp::workloads
