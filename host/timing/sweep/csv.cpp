// The results of a sweep as a CSV file, for programs to read.
#include "host/timing/report/csv.h"

#include <fmt/format.h>

#include "host/timing/sweep/sampled.h"
#include "host/timing/sweep/table.h"

namespace nearwarp::sweep {
namespace {

/// A TOML value as text: a string without its quotation marks and backslashes.
std::string unquoted(const std::string& toml) {
  if (toml.size() < 2 || toml.front() != '"') return toml;
  std::string text;
  for (size_t i = 1; i + 1 < toml.size(); ++i) {
    if (toml[i] == '\\') ++i;
    text += toml[i];
  }
  return text;
}

void add_energies(const Summary& s, report::CsvRows& csv) {
  if (!s.energy) return csv.add_empty(1 + report::kNumEnergyParts);
  csv.add(s.energy->total);
  for (const double part : s.energy->parts) csv.add(part);
}

/// `reference`: the point that this one is compared with for its speed-up; null if there is none.
void add_numbers(const Summary& s, const Summary* reference, report::CsvRows& csv) {
  if (s.failed()) {
    csv.add("failed");
    csv.add_empty(9);
    add_energies(s, csv);
    csv.add_empty(3);
    csv.add(s.error);
    return;
  }
  std::optional<double> speedup, cycles_error;
  if (s.sample) cycles_error = report::cycles_error(*s.sample);
  if (reference != nullptr && reference->complete() && s.complete() && s.cycles != 0)
    speedup = static_cast<double>(reference->cycles) / static_cast<double>(s.cycles);
  csv.add(s.partial ? "partial" : "complete", s.cycles, s.ipc, speedup, s.gpu_to_memory_bytes,
          s.memory_to_gpu_bytes, s.memory_to_memory_bytes, s.offloaded_fraction,
          s.gpu_to_memory_used, s.memory_to_gpu_used);
  add_energies(s, csv);
  csv.add(cycles_error, speedup_error_of(reference, s), s.approximated, "");
}

}  // namespace

std::string format_csv(const Plan& plan, const Shard& shard, const ResultsFile& file) {
  const Definition& d = plan.definition;
  report::CsvRows csv;
  csv.add("id", "workload", "size", "machine", "policy");
  for (const Axis& axis : d.axes)
    if (axis.values.size() > 1) csv.add(axis.key);
  csv.add("status", "cycles", "ipc", "speedup", "gpu_to_memory_bytes", "memory_to_gpu_bytes",
          "memory_to_memory_bytes", "offloaded_fraction", "gpu_to_memory_used",
          "memory_to_gpu_used", "energy_joules");
  for (size_t i = 0; i < report::kNumEnergyParts; ++i)
    csv.add(fmt::format("{}_joules", report::energy_part_name(static_cast<report::EnergyPart>(i))));
  csv.add("cycles_error", "speedup_error", "approximated", "error");
  csv.end_row();
  for (size_t index = 0; index < plan.points.size(); ++index) {
    const ResultsFile::Entry* entry = shard.has(index) ? find_point(plan, file, index) : nullptr;
    if (entry == nullptr) continue;
    const Point point = plan.placed(index);
    const ResultsFile::Entry* reference = find_point(plan, file, index - point.policy);
    const Program& program = d.programs[point.program];
    csv.add(entry->first, program.name, program.size, plan.machine_name(point),
            plan.policy_name(point));
    for (size_t i = 0; i < d.axes.size(); ++i)
      if (d.axes[i].values.size() > 1) csv.add(unquoted(d.axes[i].values[point.choice[i]].toml));
    add_numbers(entry->second, reference == nullptr ? nullptr : &reference->second, csv);
    csv.end_row();
  }
  return csv.text();
}

}  // namespace nearwarp::sweep
