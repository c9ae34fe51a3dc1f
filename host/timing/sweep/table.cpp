// Results of a sweep, as a table for people.
#include "host/timing/sweep/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "host/timing/report/columns.h"
#include "host/timing/report/section.h"
#include "host/timing/sweep/sampled.h"

namespace nearwarp::sweep {
namespace {

using report::Column;

constexpr size_t kMostRows = 40;    ///< beyond, a row per program
constexpr size_t kWidestName = 44;  ///< of a row; the rest is for numbers

/// The numbers of the point at that position; null if it is not there.
const Summary* there_at(const Plan& plan, const ResultsFile& file, size_t index) {
  const ResultsFile::Entry* entry = find_point(plan, file, index);
  return entry == nullptr ? nullptr : &entry->second;
}

const Summary* complete(const Plan& plan, const ResultsFile& file, size_t index) {
  const Summary* summary = there_at(plan, file, index);
  return summary != nullptr && summary->complete() && summary->cycles != 0 ? summary : nullptr;
}

/// The last part of a dotted key, for headings.
std::string short_key(const std::string& key) { return key.substr(key.rfind('.') + 1); }

/// The name that distinguishes the point's row from the others.
std::string row_name(const Plan& plan, const Point& point) {
  const Definition& d = plan.definition;
  std::string name = d.programs[point.program].name, with_short_keys;
  if (d.machines.size() > 1) name += " " + plan.machine_name(point);
  with_short_keys = name;
  for (size_t i = 0; i < d.axes.size(); ++i) {
    if (d.axes[i].values.size() == 1) continue;
    const std::string& value = d.axes[i].values[point.choice[i]].given;
    name += fmt::format(" {}={}", d.axes[i].key, value);
    with_short_keys += fmt::format(" {}={}", short_key(d.axes[i].key), value);
  }
  return name.size() <= kWidestName ? name : report::fitted(with_short_keys, kWidestName);
}

/// The properties that all points have in common.
std::string title(const Plan& plan) {
  const Definition& d = plan.definition;
  std::string text = fmt::format("{} points", report::grouped(plan.points.size()));
  // Programs that are read from files have no size.
  const auto sized = std::find_if(d.programs.begin(), d.programs.end(),
                                  [](const Program& p) { return !p.size.empty(); });
  if (sized != d.programs.end()) text += ", size " + sized->size;
  if (d.machines.size() == 1) text += ", on machine " + plan.machine_name(plan.placed(0));
  for (const Axis& axis : d.axes)
    if (axis.values.size() == 1) text += ", " + axis.override_text(0);
  return text;
}

std::string cycles_text(const Plan& plan, const ResultsFile& file, const Point& point) {
  const Summary* summary = there_at(plan, file, point.index);
  if (summary == nullptr) return "-";
  if (summary->failed()) return "failed";
  return report::grouped(summary->cycles) + (summary->partial ? "*" : "") +
         (summary->sample ? fmt::format(" +-{:.1f} %", 100 * report::cycles_error(*summary->sample))
                          : std::string());
}

std::string speedup_text(const Plan& plan, const ResultsFile& file, const Point& point) {
  const Summary* there = there_at(plan, file, point.index);
  if (there != nullptr && there->failed()) return "failed";
  const Summary* run = complete(plan, file, point.index);
  const Summary* reference = complete(plan, file, point.index - point.policy);
  if (run == nullptr || reference == nullptr) return there != nullptr && there->partial ? "*" : "-";
  const double speedup = static_cast<double>(reference->cycles) / static_cast<double>(run->cycles);
  const std::optional<double> error = speedup_error_of(reference, *run);
  return fmt::format("{:.3f}", speedup) +
         (error ? fmt::format(" +-{:.3f}", *error * speedup) : std::string());
}

using Cell = std::function<std::string(const Point&)>;

/// A row per combination of keys: `first` for the first policy, `other` for the others.
std::string rows_text(const Plan& plan, size_t width, const std::string& what, const Cell& first,
                      const Cell& other) {
  const size_t policies = plan.definition.policies.size();
  std::vector<std::string> names;
  std::vector<Column> columns(policies);
  for (size_t i = 0; i < plan.points.size(); ++i) {
    const Point point = plan.placed(i);
    Column& column = columns[point.policy];
    if (column.cells.empty()) {
      column.head = plan.policy_name(point);
      if (point.policy == 0) column.head += " " + what;
    }
    if (point.policy == 0) names.push_back(row_name(plan, point));
    column.cells.push_back(point.policy == 0 ? first(point) : other(point));
  }
  return report::columns_text(names, columns, width);
}

std::string speedups_text(const Plan& plan, const ResultsFile& file, size_t width) {
  return rows_text(
      plan, width, "cycles", [&](const Point& point) { return cycles_text(plan, file, point); },
      [&](const Point& point) { return speedup_text(plan, file, point); });
}

/// Energies in mJ, and relative to the first policy's.
std::string energies_text(const Plan& plan, const ResultsFile& file, size_t width) {
  const auto first = [&](const Point& point) -> std::string {
    const Summary* there = there_at(plan, file, point.index);
    if (there == nullptr) return "-";
    if (there->failed()) return "failed";
    if (!there->energy) return "-";
    const double millijoules = 1e3 * there->energy->total;
    return fmt::format("{:.{}f}{}", millijoules, millijoules < 1000 ? 3 : 0,
                       there->partial ? "*" : "");
  };
  const auto other = [&](const Point& point) -> std::string {
    const Summary* there = there_at(plan, file, point.index);
    if (there != nullptr && there->failed()) return "failed";
    const Summary* run = complete(plan, file, point.index);
    const Summary* reference = complete(plan, file, point.index - point.policy);
    if (run == nullptr || reference == nullptr || !run->energy || !reference->energy ||
        reference->energy->total == 0)
      return there != nullptr && there->partial ? "*" : "-";
    return fmt::format("{:.3f}", run->energy->total / reference->energy->total);
  };
  return rows_text(plan, width, "energy [mJ]", first, other);
}

struct Spread {
  size_t count = 0;
  double sum_of_logs = 0, least = 0, most = 0;

  void add(double value) {
    least = count == 0 ? value : std::min(least, value);
    most = count == 0 ? value : std::max(most, value);
    sum_of_logs += std::log(value);
    count += 1;
  }
  std::string text() const {
    if (count == 0) return "-";
    return fmt::format("{:.3f} ({:.3f}-{:.3f})", std::exp(sum_of_logs / static_cast<double>(count)),
                       least, most);
  }
};

std::string summary_text(const Plan& plan, const ResultsFile& file, size_t width) {
  const Definition& d = plan.definition;
  std::vector<std::vector<Spread>> spreads(d.programs.size(),
                                           std::vector<Spread>(d.policies.size()));
  std::vector<size_t> there(d.programs.size());
  for (size_t i = 0; i < plan.points.size(); ++i) {
    const PointPlace point = plan.place(i);
    const Summary* run = complete(plan, file, i);
    const Summary* reference = complete(plan, file, i - point.policy);
    there[point.program] += run != nullptr ? 1 : 0;
    if (run == nullptr || reference == nullptr) continue;
    spreads[point.program][point.policy].add(static_cast<double>(reference->cycles) /
                                             static_cast<double>(run->cycles));
  }
  std::vector<std::string> names;
  std::vector<Column> columns(d.policies.size());
  columns[0].head = "complete points";
  for (size_t policy = 1; policy < d.policies.size(); ++policy)
    columns[policy].head = plan.policy_name(plan.placed(policy));
  for (size_t program = 0; program < d.programs.size(); ++program) {
    names.push_back(report::fitted(d.programs[program].name, kWidestName));
    columns[0].cells.push_back(report::grouped(there[program]));
    for (size_t policy = 1; policy < d.policies.size(); ++policy)
      columns[policy].cells.push_back(spreads[program][policy].text());
  }
  return report::columns_text(names, columns, width);
}

/// Reasons why speed-ups are not those of what the policies do alone.
std::string remarks(const Plan& plan, const ResultsFile& file) {
  std::vector<std::pair<std::string, report::SmNumbers>> sms;
  std::vector<std::string> few;             // programs and policies with few instances
  std::vector<std::string> some_exact;      // policies, in order, that have exact points
  std::set<std::string> some_approximated;  // policies that have approximated points
  std::string approximated;
  std::map<std::string, size_t> in_one_go;  // why: points
  for (size_t i = 0; i < plan.points.size(); ++i) {
    const Summary* run = complete(plan, file, i);
    if (run == nullptr) continue;
    const Point point = plan.placed(i);
    std::string name = plan.policy_name(point);
    if (run->few_instances != 0) {
      const std::string& program = plan.definition.programs[point.program].name;
      std::string text = fmt::format("{} under {} ({})", program, name, run->few_instances);
      if (std::find(few.begin(), few.end(), text) == few.end()) few.push_back(std::move(text));
    }
    if (!run->in_one_go.empty()) in_one_go[run->in_one_go] += 1;
    if (approximated.empty()) approximated = run->approximated;
    if (!run->approximated.empty())
      some_approximated.insert(name);
    else if (std::find(some_exact.begin(), some_exact.end(), name) == some_exact.end())
      some_exact.push_back(name);
    if (plan.definition.machines.size() > 1) name += " on " + plan.machine_name(point);
    sms.emplace_back(std::move(name), run->sms);
  }
  std::string text;
  if (const std::string counts = report::different_sms_text(sms); !counts.empty())
    text += " " + counts + ".";
  if (!few.empty())
    text += fmt::format(" Mappings learnt from fewer than {} instances, which is luck: {}.",
                        report::kFewInstances, report::some_of(few));
  if (!approximated.empty()) {
    text += fmt::format(" Approximated (docs/launches.md): {}", approximated);
    std::erase_if(some_exact, [&](const auto& name) { return some_approximated.contains(name); });
    if (!some_exact.empty())
      text += fmt::format(", but under {}: exact", fmt::join(some_exact, ", "));
    text += ".";
  }
  for (const auto& [why, points] : in_one_go)
    text += fmt::format(" In one go, exactly, {} {}: {}.", points, points == 1 ? "point" : "points",
                        why);
  return text;
}

}  // namespace

std::string format_table(const Plan& plan, const ResultsFile& file, size_t width) {
  const Definition& d = plan.definition;
  const bool all_rows = plan.points.size() / d.policies.size() <= kMostRows;
  std::string text = report::wrapped(title(plan), width) + "\n";
  text += all_rows ? speedups_text(plan, file, width) : summary_text(plan, file, width);
  if (all_rows) text += "\n" + energies_text(plan, file, width);
  std::string notes;
  if (d.policies.size() > 1) {
    notes =
        fmt::format("Speed-up over {} for the same other keys", plan.policy_name(plan.placed(0)));
    if (all_rows) notes += ", and energy (an estimate) relative to its";
    notes += all_rows ? "." : ": geometric mean (least-most).";
  }
  bool partial = false;
  for (size_t i = 0; i < plan.points.size() && !partial; ++i) {
    const Summary* summary = there_at(plan, file, i);
    partial = partial || (summary != nullptr && summary->partial);
  }
  if (partial) notes += " *: partial, the run reached run.max_cycles.";
  notes += remarks(plan, file);
  if (!notes.empty()) text += "\n" + report::wrapped(notes, width);
  return text;
}

}  // namespace nearwarp::sweep
