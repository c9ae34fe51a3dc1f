#include "host/timing/compare/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "host/timing/report/columns.h"
#include "host/timing/report/use.h"

namespace nearwarp::compare {

namespace {

using Json = nlohmann::ordered_json;
using Uses = std::array<double, report::kCycleUses.size()>;

constexpr const char* kMainSms = "sm";  ///< the class of SMs that every machine has
constexpr const char* kOutside = "outside of kernels";

struct KernelCycles {
  int64_t cycles = 0;
  bool known = false;  ///< what they were spent on
  Uses uses = {};      ///< cycles, mean of the SMs
};

uint64_t count_of_sms(const Json& run) {
  for (const Json& sms : run.value("sm_cycles", Json::array()))
    if (sms.at("sms") == kMainSms) return sms.at("count").get<uint64_t>();
  return 0;
}

std::map<std::string, KernelCycles> kernels_of(const Json& run) {
  std::map<std::string, KernelCycles> kernels;
  const uint64_t sms = count_of_sms(run);
  for (const Json& total : run.value("kernel_totals", Json::array())) {
    KernelCycles& k = kernels[total.at("kernel").get<std::string>()];
    k.cycles += total.at("cycles").get<int64_t>();
    for (const Json& cycles : total.value("sm_cycles", Json::array())) {
      if (cycles.at("sms") != kMainSms || sms == 0) continue;
      for (size_t use = 0; use < k.uses.size(); ++use)
        k.uses[use] += cycles.at("uses").at(report::kCycleUses[use].name).get<double>() /
                       static_cast<double>(sms);
    }
  }
  for (auto& [name, k] : kernels) {
    double all = 0;
    for (const double cycles : k.uses) all += cycles;
    // SMs of kernels that overlap are not told apart.
    k.known = k.cycles > 0 && std::abs(all - static_cast<double>(k.cycles)) < 0.5;
  }
  return kernels;
}

/// Whole numbers near `values` whose sum is `sum`, which that of the values is near: those with the
/// largest remainders are rounded up.
std::vector<int64_t> whole(const Uses& values, int64_t sum) {
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

template <class T>
void sort_by_size(std::vector<T>& shares) {
  std::ranges::stable_sort(shares, std::greater{}, [](const T& s) { return std::llabs(s.cycles); });
}

std::string signed_number(int64_t cycles) {
  std::string digits = fmt::format("{}", std::llabs(cycles));
  for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return (cycles < 0 ? "-" : "+") + digits;
}

/// "a +5, b -3"
template <class T, class Name>
std::string list(const std::vector<T>& shares, size_t most, Name&& name) {
  std::string text;
  size_t shown = 0, left = 0;
  int64_t rest = 0;
  for (const T& share : shares) {
    if (share.cycles == 0) continue;
    if (most != 0 && shown == most) {
      rest += share.cycles;
      ++left;
      continue;
    }
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", name(share), signed_number(share.cycles));
    ++shown;
  }
  if (left != 0)
    text += fmt::format(", {} other{} {}", left, left == 1 ? "" : "s", signed_number(rest));
  return text.empty() ? "nothing" : text;
}

std::string paragraph(const std::string& text, size_t width) {
  constexpr size_t kIndent = 2, kFurther = 4;
  std::istringstream lines(report::wrapped(text, width - kIndent - kFurther));
  std::string result;
  for (std::string line; std::getline(lines, line);)
    result += std::string(kIndent + (result.empty() ? 0 : kFurther), ' ') + line + "\n";
  return result;
}

}  // namespace

Decomposition decompose(const Json& before, const Json& after) {
  Decomposition d;
  const auto first = kernels_of(before), second = kernels_of(after);
  const bool same = first.size() == second.size() &&
                    std::equal(first.begin(), first.end(), second.begin(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  if (!same || first.empty()) return d;
  d.before = before.at("cycles").get<int64_t>();
  d.cycles = after.at("cycles").get<int64_t>() - d.before;
  int64_t outside = d.cycles;
  std::array<int64_t, report::kCycleUses.size()> all = {};
  for (const auto& [name, a] : first) {
    const KernelCycles& b = second.at(name);
    KernelShare share{name, b.cycles - a.cycles, {}};
    outside -= share.cycles;
    if (a.known && b.known) {
      Uses more;
      for (size_t use = 0; use < more.size(); ++use) more[use] = b.uses[use] - a.uses[use];
      const std::vector<int64_t> cycles = whole(more, share.cycles);
      for (size_t use = 0; use < more.size(); ++use) {
        all[use] += cycles[use];
        share.causes.push_back({report::kCycleUses[use].label, cycles[use]});
      }
      sort_by_size(share.causes);
    }
    d.kernels.push_back(std::move(share));
  }
  if (outside != 0) d.kernels.push_back({kOutside, outside, {}});
  sort_by_size(d.kernels);
  for (size_t use = 0; use < all.size(); ++use)
    if (all[use] != 0) d.causes.push_back({report::kCycleUses[use].label, all[use]});
  sort_by_size(d.causes);
  return d;
}

std::string format_shortly(const Decomposition& d, const std::string& title, size_t width) {
  constexpr int64_t kOneIn = 200;
  if (d.empty() || std::llabs(d.cycles) * kOneIn < d.before) return "";
  constexpr size_t kMost = 3;
  std::string text = fmt::format("{}: {} core cycles", title, signed_number(d.cycles));
  if (d.kernels.size() > 1)
    text += " (" + list(d.kernels, kMost, [](const KernelShare& k) { return k.kernel; }) + ")";
  if (!d.causes.empty())
    text += "; SMs " + list(d.causes, kMost, [](const CycleShare& c) { return c.what; });
  return report::wrapped(text + ".", width);
}

std::string format(const Decomposition& d, size_t most, size_t width) {
  if (d.empty() || d.cycles == 0) return "";
  constexpr size_t kKernels = 4, kCauses = 4, kOfEach = 3;
  std::string text = paragraph(fmt::format("{} core cycles: {}", signed_number(d.cycles),
                                           list(d.kernels, most == 0 ? 0 : kKernels,
                                                [](const KernelShare& s) { return s.kernel; })),
                               width);
  const auto cause = [](const CycleShare& s) { return s.what; };
  if (!d.causes.empty())
    text += paragraph("SMs " + list(d.causes, most == 0 ? 0 : kCauses, cause), width);
  size_t shown = 0;
  for (const KernelShare& k : d.kernels) {
    // One kernel's are those of all.
    if (k.causes.empty() || d.kernels.size() == 1 || k.cycles == 0) continue;
    if (most != 0 && shown++ == kOfEach) break;
    text += paragraph(
        fmt::format("in {}: SMs {}", k.kernel, list(k.causes, most == 0 ? 0 : kOfEach, cause)),
        width);
  }
  return text;
}

}  // namespace nearwarp::compare
