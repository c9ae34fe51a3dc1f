// Counts the SMs of runs, and names runs that have different numbers of them.
#include "host/timing/report/sms.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nearwarp::report {
namespace {

constexpr size_t kMostNames = 6;

void add(SmNumbers& numbers, const std::string& sms, uint64_t count) {
  (sms == "stack_sm" ? numbers.in_stacks : numbers.main) += count;
}

}  // namespace

std::string SmNumbers::text() const {
  if (in_stacks == 0) return fmt::format("{}", main);
  return fmt::format("{} + {} in stacks", main, in_stacks);
}

SmNumbers sms_of(const RunResult& run) {
  SmNumbers numbers;
  for (const SmCycles& c : run.sm_cycles) add(numbers, c.sms, c.count);
  return numbers;
}

SmNumbers sms_of(const nlohmann::ordered_json& run) {
  SmNumbers numbers;
  if (!run.contains("sm_cycles")) return numbers;
  for (const auto& c : run.at("sm_cycles"))
    add(numbers, c.at("sms").get<std::string>(), c.at("count").get<uint64_t>());
  return numbers;
}

std::string different_sms_text(const std::vector<std::pair<std::string, SmNumbers>>& runs) {
  std::vector<std::pair<SmNumbers, std::vector<std::string>>> groups;
  for (const auto& [name, numbers] : runs) {
    if (!numbers.known()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& g) { return g.first == numbers; });
    if (group == groups.end()) group = groups.insert(groups.end(), {numbers, {}});
    auto& names = group->second;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (groups.size() < 2) return "";
  std::string text;
  for (const auto& [numbers, names] : groups)
    text += fmt::format("{} {} ({})", text.empty() ? "SMs:" : ",", numbers.text(), some_of(names));
  return text;
}

std::string some_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMostNames; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
  return text;
}

}  // namespace nearwarp::report
