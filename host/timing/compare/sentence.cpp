// Says in one sentence how a policy changes a program's run.
#include "host/timing/compare/sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "host/timing/compare/cycle_parts.h"
#include "host/timing/compare/decomposition.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/section.h"
#include "host/timing/report/use.h"

namespace nearwarp::compare {
namespace {

using Json = nlohmann::ordered_json;

/// A smaller share of the run is no change to speak of.
constexpr double kNoChange = 0.005;
/// From this share of a kernel's lines on, those of other stacks are what is waited for.
constexpr double kMostlyRemote = 0.5;
/// From this share of the cycles in which SMs have warps on, it is issuing that warps wait for.
constexpr double kBusy = 0.5;
/// From this share of the change on, a kernel, a cause or what a mechanism took is named.
constexpr double kNamed = 0.1;

/// The words for a kernel that has more, or fewer, cycles of one use.
struct Words {
  std::string_view use, more, less;
};
constexpr Words kWords[] = {
    {"issued", "whose SMs issue for longer", "whose SMs have less to issue"},
    {"lsu", "whose load-store units are full for longer", "whose load-store units are full less"},
    {"misses", "whose SMs wait longer for room for misses",
     "whose SMs wait less for room for misses"},
    {"network", "whose SMs wait longer for the network", "whose SMs wait less for the network"},
    {"ports", "whose SMs wait longer for ports", "whose SMs wait less for ports"},
    {"memory", "whose warps wait longer for memory", "whose warps wait less for memory"},
    {"dependency", "whose warps wait longer for results", "whose warps wait less for results"},
    {"barrier", "whose warps wait longer at barriers", "whose warps wait less at barriers"},
    {"fetch", "whose warps wait longer for instructions", "whose warps wait less for instructions"},
    {"offload", "whose warps wait for offloaded work", "whose warps wait less for offloaded work"},
    {"mechanism", "whose warps wait for the mechanism", "whose warps wait less for the mechanism"},
};

std::string_view use_of(std::string_view label) {
  for (const report::CycleUse& use : report::kCycleUses)
    if (label == use.label) return use.name;
  return "";
}

/// Offloaded warps, as the SMs that execute them have them.
struct HeldUp {
  std::string by;      ///< what these SMs mostly do, in words; empty: nothing that holds warps up
  bool often = false;  ///< they have something to do in a share of their cycles that is named
};

HeldUp held_up(const Json& run, const std::string& kernel) {
  uint64_t lines = 0, misses = 0, all = 0, with_warps = 0, most_cycles = 0;
  std::string_view most;
  for (const Json& total : run.value("kernel_totals", Json::array())) {
    if (total.at("kernel") != kernel) continue;
    for (const Json& sms : total.value("sm_cycles", Json::array())) {
      if (sms.at("sms") == kMainSms) continue;
      for (const report::CycleUse& use : report::kCycleUses) {
        const std::string_view name = use.name;
        const auto spent = sms.at("uses").at(use.name).get<uint64_t>();
        all += spent;
        if (name != "no_warp") with_warps += spent;
        if (name == "memory" || name == "misses") lines += spent;
        if (name == "misses") misses += spent;
        if (name == "no_warp" || spent <= most_cycles) continue;
        most = name;
        most_cycles = spent;
      }
    }
  }
  const auto has_share = [](double share, uint64_t cycles, uint64_t of) {
    return of != 0 && static_cast<double>(cycles) >= share * static_cast<double>(of);
  };
  const bool often = has_share(kNamed, std::max(lines, most_cycles), all);
  if (lines >= most_cycles && lines != 0) {
    if (remote_share(run, kernel) >= kMostlyRemote) return {"wait for remote lines", often};
    return {2 * misses > lines ? "wait for the stack SMs' load-store units" : "wait for memory",
            often};
  }
  if (most == "lsu") return {"wait for the stack SMs' load-store units", often};
  if (most == "issued" && has_share(kBusy, most_cycles, with_warps))
    return {"are more than stack SMs can issue", often};
  if (most == "network") return {"wait for the network", often};
  return {"", often};
}

/// Was a mechanism in one of its phases for at least half of the kernel's cycles? These say little
/// of what the policy changes once it has learnt what it needs.
bool ran_in_phases(const Json& run, const std::string& kernel) {
  uint64_t all = 0, inside = 0;
  for (const Json& launch : run.value("kernels", Json::array())) {
    if (launch.at("kernel") != kernel) continue;
    const auto begin = launch.at("begin_cycle").get<uint64_t>();
    const uint64_t end = begin + launch.at("cycles").get<uint64_t>();
    all += end - begin;
    for (const Json& phase : run.value("phases", Json::array())) {
      const uint64_t from = std::max(begin, phase.at("begin_cycle").get<uint64_t>());
      const uint64_t to = std::min(end, phase.at("end_cycle").get<uint64_t>());
      inside += to > from ? to - from : 0;
    }
  }
  return inside != 0 && 2 * inside >= all;
}

constexpr std::string_view kWithoutWarps = "whose SMs run out of warps, and ";

/// Do SMs lose most of the kernel's cycles because they have no warp, and more than twice as many
/// as by the cause that is named? The kernel's work is then spread unevenly, or in fewer SMs, which
/// waiting alone does not explain. Offloading, a mechanism and barriers empty SMs by themselves.
bool mostly_without_warps(const KernelShare& kernel, const CycleShare& named) {
  const std::string_view use = use_of(named.what);
  if (kernel.cycles <= 0 || use == "offload" || use == "mechanism" || use == "barrier")
    return false;
  return std::ranges::any_of(kernel.causes, [&](const CycleShare& c) {
    return use_of(c.what) == "no_warp" && 2 * c.cycles > kernel.cycles &&
           c.cycles > 2 * named.cycles;
  });
}

/// The kernel's largest cause in the direction of its change, that there is no warp aside: that
/// follows from what the others wait for.
std::string cause_text(const Json& after, const Decomposition& all, const KernelShare& kernel) {
  const CycleShare* most = nullptr;
  for (const CycleShare& c : kernel.causes)
    if ((c.cycles > 0) == (kernel.cycles > 0) && use_of(c.what) != "no_warp" &&
        std::llabs(c.cycles) >= kNamed * static_cast<double>(std::llabs(kernel.cycles)) &&
        (most == nullptr || std::llabs(c.cycles) > std::llabs(most->cycles)))
      most = &c;
  if (most == nullptr) {
    // SMs that run out of warps sooner or later: how the work is spread, or fewer SMs.
    return kernel.causes.empty() ? "" : kernel.cycles > 0 ? ", whose SMs run out of warps" : "";
  }
  const std::string_view use = use_of(most->what);
  const HeldUp near = kernel.cycles > 0 ? held_up(after, kernel.kernel) : HeldUp{};
  if (use == "offload" && !near.by.empty()) return ", whose offloaded warps " + near.by;
  const std::string of_it = mostly(*most);
  const bool decides = of_it.empty() || of_it.find(kDecisions) != of_it.npos;
  if (near.often && !near.by.empty() && !ran_in_phases(after, kernel.kernel)) {
    if (use == "mechanism" && decides)
      return ", whose warps wait for room near memory, where others " + near.by;
    if (use == "barrier")
      return ", whose warps wait longer at barriers, while offloaded ones " + near.by;
  }
  // Where memory was waited for is known of all kernels together.
  const auto of_all = std::ranges::find(all.causes, most->what, &CycleShare::what);
  const bool alike = (use == "memory" || use == "misses") && of_all != all.causes.end() &&
                     (of_all->cycles > 0) == (most->cycles > 0);
  std::string place = !most->parts.empty() ? mostly(*most) : alike ? mostly(*of_all) : "";
  // While memory is elsewhere, packets queue in front of the way there: the phase is the reason.
  if (use == "memory" && ran_in_phases(after, kernel.kernel)) place = "";
  const std::string_view first = mostly_without_warps(kernel, *most) ? kWithoutWarps : "";
  for (const Words& words : kWords)
    if (words.use == use)
      return fmt::format(", {}{}{}", first, kernel.cycles > 0 ? words.more : words.less, place);
  return "";
}

/// Names the cycles that mechanisms took for themselves, where they are a part of those that are
/// lost, or saved in a kernel that ran meanwhile.
std::string mechanisms_text(const Json& after, int64_t changed) {
  std::string text;
  const auto least =
      static_cast<int64_t>(std::ceil(kNamed * static_cast<double>(std::llabs(changed))));
  for (const report::MechanismReport* mechanism : report::mechanism_reports()) {
    if (mechanism->cost == nullptr) continue;
    if (const std::string clause = mechanism->cost(after, least); !clause.empty())
      text += "; " + clause;
  }
  return text;
}

/// A kernel's name without its parameters, which a sentence has no room for.
std::string named(const std::string& kernel) {
  const std::string name = report::short_name(kernel);
  if (!name.ends_with(')')) return name;
  size_t at = name.size();
  for (int depth = 0; at != 0;) {
    const char c = name[--at];
    depth += c == ')' ? 1 : c == '(' ? -1 : 0;
    if (depth == 0) break;
  }
  return at == 0 ? name : name.substr(0, at);
}

}  // namespace

std::string sentence(const Json& before, const Json& after, const std::string& program,
                     const std::string& under) {
  const auto a = before.at("cycles").get<int64_t>(), b = after.at("cycles").get<int64_t>();
  if (a == 0) return "";
  const double relative = static_cast<double>(b - a) / static_cast<double>(a);
  if (std::abs(relative) < kNoChange)
    return fmt::format("{}: {} changes next to nothing ({:+.1f} % cycles)", program, under,
                       100 * relative);
  std::string text = fmt::format("{}: {} cycles {} under {} ({:+.1f} %)", program,
                                 report::grouped(static_cast<uint64_t>(std::llabs(b - a))),
                                 b > a ? "lost" : "saved", under, 100 * relative);
  const Decomposition d = decompose(before, after);
  // The kernel that has most of the change, in its direction.
  const KernelShare* most = nullptr;
  for (const KernelShare& k : d.kernels)
    if ((k.cycles > 0) == (b > a) && k.cycles != 0 &&
        (most == nullptr || std::llabs(k.cycles) > std::llabs(most->cycles)))
      most = &k;
  if (most != nullptr &&
      std::llabs(most->cycles) >= kNamed * static_cast<double>(std::llabs(b - a))) {
    const auto of_it = static_cast<uint64_t>(std::llabs(most->cycles));
    if (d.kernels.size() == 1)
      text += " in " + named(most->kernel);
    else if (std::llabs(most->cycles) <= std::llabs(b - a))
      text += fmt::format(", {} of them in {}", report::grouped(of_it), named(most->kernel));
    else  // others make up for a part of it
      text += fmt::format("; {} in {} alone", report::grouped(of_it), named(most->kernel));
    text += cause_text(after, d, *most);
  }
  const bool is_told = b > a || (most != nullptr && ran_in_phases(after, most->kernel));
  return is_told ? text + mechanisms_text(after, b - a) : text;
}

}  // namespace nearwarp::compare
