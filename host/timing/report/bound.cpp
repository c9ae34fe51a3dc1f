// Says what bounds a run, in a sentence; and makes tables of where its time went.
#include "host/timing/report/bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/timing/report/columns.h"

namespace nearwarp::report {
namespace {

/// On average over its components, or of the busiest one: from there on it is near saturation
/// (refreshes, turnarounds and conflicts never leave all of a bus).
constexpr double kSaturated = 0.75, kOneSaturated = 0.9;
/// From this share of the run on, learning the mapping of data is what bounds it; from the lower
/// one on it is mentioned.
constexpr double kMostlyLearning = 0.5, kSomeLearning = 0.05;
/// Saturated parts that are named besides the busiest.
constexpr size_t kMostNamed = 2;

std::string percent_text(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string plural(const SmCycles& c) {
  if (c.sms == "sm") return "SMs";
  return c.sms == "stack_sm" ? "stack SMs" : c.sms + " SMs";
}

/// Utilisations, the busiest first; without PCI-E where the learning phase's sentence speaks of it.
std::vector<const Utilisation*> busiest_first(const RunResult& run,
                                              double (Utilisation::*of)() const) {
  std::vector<const Utilisation*> all;
  for (const Utilisation& u : run.utilisation)
    if (u.name != kPcieName || run.learning_share() < kMostlyLearning) all.push_back(&u);
  std::stable_sort(all.begin(), all.end(), [&](const Utilisation* a, const Utilisation* b) {
    return (a->*of)() > (b->*of)();
  });
  return all;
}

/// Names the parts that are near saturation; `found` says whether there are any.
std::string saturated_text(const RunResult& run, bool& found) {
  std::string text;
  const auto by_mean = busiest_first(run, &Utilisation::mean);
  for (size_t i = 0; i < by_mean.size() && i < kMostNamed; ++i)
    if (by_mean[i]->mean() >= kSaturated)
      text += fmt::format("{}{} {} busy", text.empty() ? "" : ", ", by_mean[i]->text,
                          percent_text(by_mean[i]->mean()));
  found = true;
  if (!text.empty()) return text;
  const auto by_most = busiest_first(run, &Utilisation::most);
  if (!by_most.empty() && by_most[0]->most() >= kOneSaturated)
    return fmt::format("unevenly loaded {}: {} {} busy, all together {}", by_most[0]->text,
                       by_most[0]->busiest, percent_text(by_most[0]->most()),
                       percent_text(by_most[0]->mean()));
  found = false;
  if (by_mean.empty()) return "";
  const Utilisation& busiest = *by_mean[0];
  std::string all = fmt::format("{}, {}", busiest.text, percent_text(busiest.mean()));
  // A mean over many hides one of them.
  const Utilisation& one = *by_most[0];
  if (one.most() >= 2 * busiest.mean())
    all += fmt::format("; {} alone {}", one.busiest, percent_text(one.most()));
  return fmt::format("nothing is near saturation (busiest: {})", all);
}

/// Says how the SMs of a class spent most of the time, besides issuing.
std::string sms_text(const SmCycles& c) {
  const auto most = std::max_element(c.uses.begin(), c.uses.end());
  const auto use = static_cast<size_t>(most - c.uses.begin());
  return fmt::format("{} {} in {} of cycles, with {:.1f} of {} warps there", plural(c),
                     kCycleUses[use].label, percent_text(c.share(use)), c.resident(), c.capacity);
}

/// How busy PCI-E was while the mapping was being learnt. Where its bandwidth is not limited it has
/// no wires that are busy.
std::string pcie_text(const RunResult& run) {
  for (const Utilisation& u : run.utilisation)
    if (u.name == kPcieName)
      return fmt::format(", which was {} busy meanwhile",
                         percent_text(std::min(1.0, u.most() / run.learning_share())));
  return ", whose latency counts";
}

/// Says what held up memory behind PCI-E while the mapping was being learnt.
std::string learning_text(const RunResult& run) {
  const double share = run.learning_share();
  return fmt::format(
      "the learning phase, {} of the run: until the mapping is known, memory lies "
      "behind PCI-E{}",
      percent_text(share), pcie_text(run));
}

/// Where nothing is near saturation: more of what would help?
std::string verdict(const SmCycles& c) {
  if (2 * c.resident() < static_cast<double>(c.capacity)) return "latency, with too few warps";
  return "latency";
}

}  // namespace

std::string bound_text(const RunResult& run) {
  if (run.sm_cycles.empty() || run.sm_cycles[0].total() == 0) return "";
  bool saturated = false;
  std::string text = saturated_text(run, saturated);
  const double learning = run.learning_share();
  if (learning >= kMostlyLearning) {
    text = learning_text(run) + (saturated ? "; " + text : "");
  } else {
    if (!saturated) text = verdict(run.sm_cycles[0]) + (text.empty() ? "" : ": " + text);
    if (learning >= kSomeLearning)
      text += fmt::format("; learning the mapping took {} of the run, with memory behind PCI-E{}",
                          percent_text(learning), pcie_text(run));
  }
  for (const SmCycles& c : run.sm_cycles) text += "; " + sms_text(c);
  return text;
}

std::string format_bounds(std::span<const RunResult> runs, size_t width) {
  std::string text;
  for (const RunResult& run : runs)
    if (const std::string bound = bound_text(run); !bound.empty())
      text += wrapped(fmt::format("{} is bound by {}.", run.policy, bound), width);
  return text;
}

std::string format_use(const RunResult& run, size_t width) {
  if (run.sm_cycles.empty()) return "";
  std::vector<std::string> names;
  std::vector<Column> columns;
  for (const CycleUse& use : kCycleUses) names.push_back(use.label);
  names.push_back("warps there");
  for (const SmCycles& c : run.sm_cycles) {
    Column column{plural(c) + " [%]", {}};
    for (size_t i = 0; i < kCycleUses.size(); ++i)
      column.cells.push_back(fmt::format("{:.1f}", 100 * c.share(i)));
    column.cells.push_back(fmt::format("{:.1f} of {}", c.resident(), c.capacity));
    columns.push_back(std::move(column));
  }
  std::string text =
      fmt::format("Cycles of SMs under {}:\n\n", run.policy) + columns_text(names, columns, width);
  names.clear();
  columns = {{"number", {}}, {"busy [%]", {}}, {"most [%]", {}}};
  for (const Utilisation& u : run.utilisation) {
    names.push_back(u.text);
    columns[0].cells.push_back(grouped(u.components));
    columns[1].cells.push_back(fmt::format("{:.1f}", 100 * u.mean()));
    columns[2].cells.push_back(fmt::format("{:.1f}", 100 * u.most()));
  }
  if (!names.empty())
    text += fmt::format("\nHow busy everything was under {}:\n\n", run.policy) +
            columns_text(names, columns, width);
  return text;
}

}  // namespace nearwarp::report
