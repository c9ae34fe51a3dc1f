// Results of a sweep, as CSV for programs.
#include "host/timing/report/csv.h"

#include <fmt/format.h>

#include "host/timing/sweep/sampled.h"
#include "host/timing/sweep/table.h"

namespace nearwarp::sweep {
namespace {

using report::csv_field;

/// A value without TOML's quotation marks.
std::string plain(const std::string& toml) {
  if (toml.size() < 2 || toml.front() != '"') return toml;
  std::string text;
  for (size_t i = 1; i + 1 < toml.size(); ++i) {
    if (toml[i] == '\\') ++i;
    text += toml[i];
  }
  return text;
}

/// Total and parts, each with a comma before it.
std::string energies(const Summary& s) {
  std::string text;
  if (!s.energy) return std::string(1 + report::kNumEnergyParts, ',');
  text = fmt::format(",{}", s.energy->total);
  for (const double part : s.energy->parts) text += fmt::format(",{}", part);
  return text;
}

/// `reference`: what the point is compared with; null if it is not there.
std::string numbers(const Summary& s, const Summary* reference) {
  if (s.failed()) return "failed,,,,,,,,," + energies(s) + ",,,," + csv_field(s.error);
  std::string speedup, cycles_error, speedup_error;
  if (s.sample) cycles_error = fmt::format("{}", report::cycles_error(*s.sample));
  if (const auto error = speedup_error_of(reference, s)) speedup_error = fmt::format("{}", *error);
  if (reference != nullptr && reference->complete() && s.complete() && s.cycles != 0)
    speedup =
        fmt::format("{}", static_cast<double>(reference->cycles) / static_cast<double>(s.cycles));
  return fmt::format("{},{},{},{},{},{},{},{},{},{}{},{},{},{},",
                     s.partial ? "partial" : "complete", s.cycles, s.ipc, speedup,
                     s.gpu_to_memory_bytes, s.memory_to_gpu_bytes, s.memory_to_memory_bytes,
                     s.offloaded_fraction, s.gpu_to_memory_used, s.memory_to_gpu_used, energies(s),
                     cycles_error, speedup_error, csv_field(s.approximated));
}

}  // namespace

std::string format_csv(const Plan& plan, const Shard& shard, const ResultsFile& file) {
  const Definition& d = plan.definition;
  std::string text = "id,workload,size,machine,policy";
  for (const Axis& axis : d.axes)
    if (axis.values.size() > 1) text += "," + csv_field(axis.key);
  text +=
      ",status,cycles,ipc,speedup,gpu_to_memory_bytes,memory_to_gpu_bytes,memory_to_memory_bytes,"
      "offloaded_fraction,gpu_to_memory_used,memory_to_gpu_used,energy_joules";
  for (size_t i = 0; i < report::kNumEnergyParts; ++i)
    text += fmt::format(",{}_joules", report::energy_part_name(static_cast<report::EnergyPart>(i)));
  text += ",cycles_error,speedup_error,approximated,error\n";
  for (size_t index = 0; index < plan.points.size(); ++index) {
    const ResultsFile::Entry* entry = shard.has(index) ? find_point(plan, file, index) : nullptr;
    if (entry == nullptr) continue;
    const Point point = plan.placed(index);
    const ResultsFile::Entry* reference = find_point(plan, file, index - point.policy);
    const Program& program = d.programs[point.program];
    text += fmt::format("{},{},{},{},{}", entry->first, csv_field(program.name), program.size,
                        csv_field(plan.machine_name(point)), csv_field(plan.policy_name(point)));
    for (size_t i = 0; i < d.axes.size(); ++i)
      if (d.axes[i].values.size() > 1)
        text += "," + csv_field(plain(d.axes[i].values[point.choice[i]].toml));
    text +=
        "," + numbers(entry->second, reference == nullptr ? nullptr : &reference->second) + "\n";
  }
  return text;
}

}  // namespace nearwarp::sweep
