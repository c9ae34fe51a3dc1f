#include "host/timing/compare/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "host/timing/compare/cycle_parts.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/use.h"

namespace nearwarp::compare {

namespace {

using Json = nlohmann::ordered_json;
using Uses = std::array<double, report::kCycleUses.size()>;

constexpr size_t use_named(std::string_view name) {
  size_t use = 0;
  while (name != report::kCycleUses[use].name) ++use;
  return use;
}
constexpr size_t kMemory = use_named("memory"), kMisses = use_named("misses"),
                 kOffload = use_named("offload"), kMechanism = use_named("mechanism"),
                 kNoWarp = use_named("no_warp");

constexpr const char* kOutside = "outside of kernels";
constexpr const char* kOthers =
    "others";  ///< part of a cause: of kernels whose parts are not known

struct KernelCycles {
  int64_t cycles = 0;
  bool known = false;                                            ///< their uses are
  Uses uses = {};                                                ///< cycles, mean of the SMs
  std::array<CycleParts, report::kCycleUses.size()> parts = {};  ///< of some of them
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

/// SMs that have no warp wait for those that have: as far as they were as many before, for each
/// cycle of the others, their cycles are counted as what the others do. That there is no warp keeps
/// what changes in how the work is spread.
void share_idle_cycles(KernelCycles& a, KernelCycles& b) {
  const double idle_before = a.uses[kNoWarp], idle_after = b.uses[kNoWarp];
  const double before = static_cast<double>(a.cycles) - idle_before;
  const double more = static_cast<double>(b.cycles) - idle_after - before;
  const double idle_more = idle_after - idle_before;
  if (before <= 0 || more * idle_more <= 0) return;
  const double each = std::min(idle_before / before, idle_more / more);
  for (KernelCycles* k : {&a, &b}) {
    for (size_t use = 0; use < k->uses.size(); ++use) {
      if (use == kNoWarp) continue;
      k->uses[kNoWarp] -= each * k->uses[use];
      k->uses[use] += each * k->uses[use];
    }
  }
}

void divide_uses(const Json& run, const std::string& kernel, KernelCycles& k) {
  k.parts[kOffload] = parts_of_offload(run, kernel, k.uses[kOffload]);
  k.parts[kMechanism] = parts_of_mechanism(run, kernel, k.uses[kMechanism]);
}

template <class T>
void sort_by_size(std::vector<T>& shares) {
  std::ranges::stable_sort(shares, std::greater{}, [](const T& s) { return std::llabs(s.cycles); });
}

/// The cycles that each part has more than before: adds up to `cycles`. Empty if parts of one of
/// the two are not known.
std::vector<CyclePart> parts_between(const CycleParts& before, const CycleParts& after,
                                     int64_t cycles) {
  CycleParts more = after;
  for (const auto& [name, part] : before) more[name] -= part;
  std::vector<double> values;
  double sum = 0;
  for (const auto& [name, part] : more) sum += values.emplace_back(part);
  if (more.empty() || std::abs(sum - static_cast<double>(cycles)) > 1) return {};
  const std::vector<int64_t> rounded = whole(values, cycles);
  std::vector<CyclePart> parts;
  for (const auto& [name, part] : more) parts.push_back({name, rounded[parts.size()]});
  sort_by_size(parts);
  return parts;
}

/// A kernel's parts, to those of all.
void add_parts(const CycleShare& of_kernel, CycleShare& all) {
  for (const CyclePart& part : of_kernel.parts) {
    const auto same = std::ranges::find(all.parts, part.what, &CyclePart::what);
    if (same == all.parts.end())
      all.parts.push_back(part);
    else
      same->cycles += part.cycles;
  }
}

/// Adds the rest of a cause of all kernels as a part: cycles of kernels whose parts are not known.
void add_rest(CycleShare& cause) {
  if (cause.parts.empty()) return;
  int64_t rest = cause.cycles;
  for (const CyclePart& part : cause.parts) rest -= part.cycles;
  if (rest != 0) cause.parts.push_back({kOthers, rest});
  sort_by_size(cause.parts);
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

std::string mostly(const CycleShare& cause) {
  for (const CyclePart& part : cause.parts)
    if (part.what != kOthers && (part.cycles > 0) == (cause.cycles > 0) &&
        2 * std::llabs(part.cycles) >= std::llabs(cause.cycles))
      return fmt::format(" (mostly {})", part.what);
  return "";
}

Decomposition decompose(const Json& before, const Json& after) {
  Decomposition d;
  auto first = kernels_of(before), second = kernels_of(after);
  const bool same = first.size() == second.size() &&
                    std::equal(first.begin(), first.end(), second.begin(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
  if (!same || first.empty()) return d;
  d.before = before.at("cycles").get<int64_t>();
  d.cycles = after.at("cycles").get<int64_t>() - d.before;
  int64_t outside = d.cycles;
  std::vector<CycleShare> all;
  for (const report::CycleUse& use : report::kCycleUses) all.push_back({use.label, 0, {}});
  Uses memory_before = {};
  for (auto& [name, a] : first) {
    KernelCycles& b = second.at(name);
    KernelShare share{name, b.cycles - a.cycles, {}};
    outside -= share.cycles;
    if (a.known && b.known) {
      share_idle_cycles(a, b);
      divide_uses(before, name, a);
      divide_uses(after, name, b);
      std::vector<double> more;
      for (size_t use = 0; use < a.uses.size(); ++use) more.push_back(b.uses[use] - a.uses[use]);
      const std::vector<int64_t> cycles = whole(more, share.cycles);
      for (size_t use = 0; use < more.size(); ++use) {
        CycleShare cause{report::kCycleUses[use].label, cycles[use],
                         parts_between(a.parts[use], b.parts[use], cycles[use])};
        all[use].cycles += cause.cycles;
        add_parts(cause, all[use]);
        share.causes.push_back(std::move(cause));
      }
      for (const size_t use : {kMemory, kMisses}) memory_before[use] += a.uses[use];
      sort_by_size(share.causes);
    }
    d.kernels.push_back(std::move(share));
  }
  if (outside != 0) d.kernels.push_back({kOutside, outside, {}});
  sort_by_size(d.kernels);
  for (const size_t use : {kMemory, kMisses}) {
    // Kernels' cycles are whole numbers, and so is their sum.
    const double cycles = memory_before[use] + static_cast<double>(all[use].cycles);
    all[use].parts = parts_between(parts_of_memory(before, memory_before[use]),
                                   parts_of_memory(after, cycles), all[use].cycles);
  }
  for (CycleShare& cause : all) {
    add_rest(cause);
    if (cause.cycles != 0) d.causes.push_back(std::move(cause));
  }
  sort_by_size(d.causes);
  return d;
}

std::string format_shortly(const Decomposition& d, const std::string& title, size_t width) {
  constexpr int64_t kOneIn = 200;
  if (d.empty() || std::llabs(d.cycles) * kOneIn < d.before) return "";
  constexpr size_t kMost = 3;
  std::string text = fmt::format("{}: {} core cycles", title, signed_number(d.cycles));
  if (d.kernels.size() > 1)
    text +=
        " (" +
        list(d.kernels, kMost, [](const KernelShare& k) { return report::short_name(k.kernel); }) +
        ")";
  if (!d.causes.empty())
    text +=
        "; SMs " + list(d.causes, kMost, [](const CycleShare& c) { return c.what + mostly(c); });
  return report::wrapped(text + ".", width);
}

std::string format(const Decomposition& d, size_t most, size_t width) {
  if (d.empty() || d.cycles == 0) return "";
  constexpr size_t kKernels = 4, kCauses = 4, kOfEach = 3;
  std::string text = paragraph(
      fmt::format("{} core cycles: {}", signed_number(d.cycles),
                  list(d.kernels, most == 0 ? 0 : kKernels,
                       [](const KernelShare& s) { return report::short_name(s.kernel); })),
      width);
  size_t shown = 0;
  const auto cause = [](const CycleShare& s) { return s.what; };
  if (!d.causes.empty())
    text += paragraph("SMs " + list(d.causes, most == 0 ? 0 : kCauses, cause), width);
  shown = 0;
  for (const CycleShare& c : d.causes) {
    if (c.parts.empty() || c.cycles == 0) continue;
    if (most != 0 && shown++ == kOfEach) break;
    text += paragraph(fmt::format("of '{}': {}", c.what,
                                  list(c.parts, most == 0 ? 0 : kOfEach,
                                       [](const CyclePart& part) { return part.what; })),
                      width);
  }
  shown = 0;
  for (const KernelShare& k : d.kernels) {
    // One kernel's are those of all.
    if (k.causes.empty() || d.kernels.size() == 1 || k.cycles == 0) continue;
    if (most != 0 && shown++ == kOfEach) break;
    text += paragraph(fmt::format("in {}: SMs {}", report::short_name(k.kernel),
                                  list(k.causes, most == 0 ? 0 : kOfEach, cause)),
                      width);
  }
  return text;
}

Json decomposition_json(const Decomposition& d) {
  const auto causes_json = [](const std::vector<CycleShare>& causes) {
    Json list = Json::array();
    for (const CycleShare& c : causes) {
      list.push_back({{"what", c.what}, {"cycles", c.cycles}});
      for (const CyclePart& part : c.parts)
        list.back()["parts"].push_back({{"what", part.what}, {"cycles", part.cycles}});
    }
    return list;
  };
  Json json = {{"kernels", Json::array()}};
  for (const KernelShare& k : d.kernels)
    json["kernels"].push_back(
        {{"kernel", k.kernel}, {"cycles", k.cycles}, {"causes", causes_json(k.causes)}});
  json["causes"] = causes_json(d.causes);
  return json;
}

}  // namespace nearwarp::compare
