#include "host/timing/compare/cycle_parts.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/timing/report/section.h"
#include "host/timing/report/use.h"

namespace nearwarp::compare {

namespace {

using Json = nlohmann::ordered_json;

/// `cycles` in the proportion of `weights`; empty if these are all 0.
CycleParts divided(CycleParts weights, double cycles) {
  double all = 0;
  for (const auto& [name, weight] : weights) all += weight;
  if (all == 0) return {};
  for (auto& [name, weight] : weights) weight *= cycles / all;
  return weights;
}

/// Names a use of SMs near the memory, as a part of the time for which others waited.
std::string part_near_memory(std::string_view use, const char* label) {
  if (use == "issued") return "issue near memory";
  return std::string("SMs near memory ") + label;
}

constexpr std::string_view kWaitsForLines[] = {"memory", "misses"};
constexpr const char* kRemote = "remote lines";
constexpr const char* kLocal = "lines of the own stack";

}  // namespace

double remote_share(const Json& run, const std::string& kernel) {
  report::NearLines lines;
  for (const report::MechanismReport* mechanism : report::mechanism_reports()) {
    if (mechanism->near_lines == nullptr) continue;
    const report::NearLines of = mechanism->near_lines(run, kernel);
    lines.local += of.local;
    lines.remote += of.remote;
  }
  return lines.remote == 0
             ? 0
             : static_cast<double>(lines.remote) / static_cast<double>(lines.local + lines.remote);
}

CycleParts parts_of_offload(const Json& run, const std::string& kernel, double cycles) {
  const double remote = remote_share(run, kernel);
  CycleParts weights;
  for (const Json& total : run.value("kernel_totals", Json::array())) {
    if (total.at("kernel") != kernel) continue;
    for (const Json& sms : total.value("sm_cycles", Json::array())) {
      if (sms.at("sms") == kMainSms) continue;
      for (size_t i = 0; i < report::kNoWarp; ++i) {
        const std::string_view use = report::kCycleUses[i].name;
        const double spent = sms.at("uses").at(report::kCycleUses[i].name).get<double>();
        if (std::ranges::find(kWaitsForLines, use) != std::end(kWaitsForLines)) {
          weights[kRemote] += spent * remote;
          weights[kLocal] += spent * (1 - remote);
        } else {
          weights[part_near_memory(use, report::kCycleUses[i].label)] += spent;
        }
      }
    }
  }
  std::erase_if(weights, [](const auto& part) { return part.second == 0; });
  return divided(std::move(weights), cycles);
}

CycleParts parts_of_mechanism(const Json& run, const std::string& kernel, double cycles) {
  CycleParts parts;
  double left = cycles;
  for (const Json& phase : run.value("phases", Json::array())) {
    if (!phase.at("stands_still").get<bool>()) continue;
    const auto begin = phase.at("begin_cycle").get<int64_t>(),
               end = phase.at("end_cycle").get<int64_t>();
    int64_t common = 0;
    for (const Json& launch : run.value("kernels", Json::array())) {
      if (launch.at("kernel") != kernel) continue;
      const auto from = launch.at("begin_cycle").get<int64_t>(),
                 to = from + launch.at("cycles").get<int64_t>();
      common += std::max<int64_t>(0, std::min(end, to) - std::max(begin, from));
    }
    const double still = std::min(left, static_cast<double>(common));
    if (still <= 0) continue;
    parts[phase.at("name").get<std::string>()] += still;
    left -= still;
  }
  if (!parts.empty()) parts[kDecisions] = left;
  return parts;
}

CycleParts parts_of_memory(const Json& run, double cycles) {
  // Where SMs stand beside the stacks, only those in the stacks go from one to the other.
  const Json classes = run.value("sm_cycles", Json::array());
  const bool beside =
      std::ranges::any_of(classes, [](const Json& sms) { return sms.at("sms") != kMainSms; });
  CycleParts weights;
  for (const Json& place : run.value("way", Json::array()))
    if (!beside || !place.at("between_stacks").get<bool>())
      weights[place.at("text").get<std::string>()] += place.at("ticks").get<double>();
  return divided(std::move(weights), cycles);
}

std::vector<int64_t> whole(const std::vector<double>& values, int64_t sum) {
  std::vector<int64_t> rounded;
  std::vector<size_t> order;
  for (const double v : values) {
    order.push_back(rounded.size());
    rounded.push_back(static_cast<int64_t>(std::floor(v)));
    sum -= rounded.back();
  }
  const auto remainder = [&](size_t i) { return values[i] - std::floor(values[i]); };
  std::ranges::stable_sort(order, std::greater{}, remainder);
  for (size_t i = 0; i < order.size() && sum > 0; ++i, --sum) rounded[order[i]] += 1;
  for (size_t i = order.size(); i > 0 && sum < 0; --i, ++sum) rounded[order[i - 1]] -= 1;
  return rounded;
}

}  // namespace nearwarp::compare
