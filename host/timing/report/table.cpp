// Results as a table for people.
#include "host/timing/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/timing/report/columns.h"
#include "host/timing/report/energy_text.h"
#include "host/timing/report/section.h"
#include "host/timing/report/sms.h"

namespace nearwarp::report {
namespace {

struct Unit {
  const char* name;
  double size;
};

/// The largest unit of bytes of which the run with most traffic has at least ten.
Unit byte_unit(std::span<const RunResult> runs) {
  uint64_t most = 0;
  for (const RunResult& run : runs) most = std::max(most, run.traffic.total_bytes());
  for (const Unit unit : {Unit{"GB", 1e9}, Unit{"MB", 1e6}, Unit{"kB", 1e3}}) {
    if (static_cast<double>(most) >= 10 * unit.size) return unit;
  }
  return {"B", 1};
}

std::string bytes_text(uint64_t bytes, const Unit& unit) {
  if (unit.size == 1) return grouped(bytes);
  return fmt::format("{:.1f}", static_cast<double>(bytes) / unit.size);
}

/// How much faster than `first`; unknown if one of the two did not come to the program's end.
std::string speedup_text(const RunResult& first, const RunResult& run) {
  if (first.partial || run.partial || run.cycles == 0) return "-";
  const double speedup = static_cast<double>(first.cycles) / static_cast<double>(run.cycles);
  const auto sample = [](const RunResult& r) {
    return r.launches.has_value() && r.launches->sample.has_value() ? &*r.launches->sample
                                                                    : nullptr;
  };
  const auto error = ratio_error(sample(first), sample(run));
  if (&first == &run || !error.has_value() || *error == 0) return fmt::format("{:.3f}", speedup);
  return fmt::format("{:.3f} +-{:.3f}", speedup, *error * speedup);
}

/// `value` as a multiple of `first`; unknown unless both runs came to the program's end.
std::string relative_text(const RunResult& first, const RunResult& run, double first_value,
                          double value) {
  if (first.partial || run.partial || first_value == 0) return "-";
  return fmt::format("{:.3f}", value / first_value);
}

/// A row is there where speed-ups compare different numbers.
constexpr char kSpeedupRow[] = "speed-up", kSmsRow[] = "SMs + in stacks";

std::string sms_text(const RunResult& run) {
  const SmNumbers sms = sms_of(run);
  if (!sms.known()) return "-";
  return sms.in_stacks == 0 ? fmt::format("{}", sms.main)
                            : fmt::format("{} + {}", sms.main, sms.in_stacks);
}

bool sms_differ(std::span<const RunResult> runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunResult& run) { return sms_of(run) != sms_of(runs.front()); });
}

std::vector<std::string> labels(const Unit& unit, const EnergyUnit& energy) {
  return {"cycles",
          "IPC",
          kSpeedupRow,
          fmt::format("GPU->memory [{}]", unit.name),
          fmt::format("memory->GPU [{}]", unit.name),
          fmt::format("memory<->memory [{}]", unit.name),
          fmt::format("off-chip, all [{}]", unit.name),
          "TX bandwidth used [%]",
          "RX bandwidth used [%]",
          "offloaded instr. [%]",
          fmt::format("SM energy [{}]", energy.name),
          fmt::format("L2 energy [{}]", energy.name),
          fmt::format("network energy [{}]", energy.name),
          fmt::format("link energy [{}]", energy.name),
          fmt::format("DRAM energy [{}]", energy.name),
          fmt::format("leakage [{}]", energy.name),
          fmt::format("energy, all [{}]", energy.name),
          "energy, relative",
          "energy x delay, rel.",
          "simulated [Mwi/s]",
          "simulation time [s]"};
}

std::vector<std::string> energy_cells(const RunResult& run, const RunResult& first,
                                      const EnergyUnit& unit) {
  const auto text = [&](Femtojoules energy) {
    return fmt::format("{:.3f}", joules(energy) / unit.joules);
  };
  std::vector<std::string> cells;
  for (size_t i = 0; i < kNumEnergyParts; ++i)
    cells.push_back(text(run.energy.part(static_cast<EnergyPart>(i))));
  cells.push_back(text(run.energy.total()));
  cells.push_back(
      relative_text(first, run, joules(first.energy.total()), joules(run.energy.total())));
  cells.push_back(relative_text(first, run, first.energy_delay_joule_seconds(),
                                run.energy_delay_joule_seconds()));
  return cells;
}

Column column(const RunResult& run, const RunResult& first, const Unit& unit,
              const EnergyUnit& energy) {
  Column c;
  c.head = run.policy + (run.partial ? "*" : "");
  c.cells = {grouped(run.cycles),
             fmt::format("{:.2f}", run.ipc()),
             speedup_text(first, run),
             bytes_text(run.traffic.gpu_to_memory_bytes, unit),
             bytes_text(run.traffic.memory_to_gpu_bytes, unit),
             bytes_text(run.traffic.memory_to_memory_bytes, unit),
             bytes_text(run.traffic.total_bytes(), unit),
             fmt::format("{:.1f}", 100 * run.link_use.gpu_to_memory()),
             fmt::format("{:.1f}", 100 * run.link_use.memory_to_gpu()),
             fmt::format("{:.1f}", 100 * run.offloaded_fraction())};
  for (std::string& cell : energy_cells(run, first, energy)) c.cells.push_back(std::move(cell));
  c.cells.push_back(fmt::format("{:.2f}", run.warp_instructions_per_second() / 1e6));
  c.cells.push_back(fmt::format("{:.2f}", run.wall_seconds));
  return c;
}

/// Reasons why a column does not say what it seems to, a line for each.
std::string remarks_on(std::span<const RunResult> runs, size_t width) {
  std::string text;
  for (const RunResult& run : runs) {
    if (run.partial)
      text += wrapped(
          fmt::format("* {} is partial ({}): numbers are up to there, there is no speed-up.",
                      run.policy, run.partial_reason),
          width);
    for (const MechanismReport* m : mechanism_reports()) {
      const std::string remark = m->remark == nullptr ? "" : m->remark(run);
      if (!remark.empty()) text += wrapped(remark, width);
    }
  }
  return text;
}

}  // namespace

std::string format_table(std::span<const RunResult> runs, size_t width, bool legend) {
  if (runs.empty()) return "";
  const RunResult& first = runs.front();
  std::string title = first.workload;
  if (!first.size.empty()) title += ", size " + first.size;
  title += ", on machine " + first.machine;
  for (const std::string& change : first.overrides) title += ", " + change;
  const bool sampled = first.launches.has_value() && first.launches->sample.has_value();
  const uint64_t launches = sampled ? first.launches->of : first.kernels.size();
  title += fmt::format("; {} warp-instructions in {} launch{}", grouped(first.warp_instructions),
                       grouped(launches), launches == 1 ? "" : "es");
  const Unit unit = byte_unit(runs);
  const EnergyUnit energy = energy_unit(runs);
  std::vector<Column> columns;
  for (const RunResult& run : runs) columns.push_back(column(run, first, unit, energy));
  std::vector<std::string> names = labels(unit, energy);
  if (sms_differ(runs)) {
    const auto at = std::find(names.begin(), names.end(), kSpeedupRow) - names.begin();
    names.insert(names.begin() + at + 1, kSmsRow);
    for (size_t i = 0; i < runs.size(); ++i)
      columns[i].cells.insert(columns[i].cells.begin() + at + 1, sms_text(runs[i]));
  }
  std::string text = wrapped(title, width) + "\n" + columns_text(names, columns, width);
  std::string notes =
      "cycles: core cycles; IPC: thread-instructions per cycle; speed-up: over the first policy; "
      "off-chip traffic with packet headers; bandwidth used: busy time of the links from the GPU "
      "to "
      "memory (TX) and back (RX) over run time; energy: an estimate, relative to the first policy; "
      "Mwi/s: million warp-instructions per second.";
  if (legend) text += "\n" + wrapped(notes, width);
  const std::string remarks = remarks_on(runs, width);
  if (!remarks.empty() && !legend) text += "\n";
  return text + remarks;
}

}  // namespace nearwarp::report
