// Results of runs as tables, and as a document, as the command line gives them out.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/api/failure.h"
#include "host/api/inside.h"
#include "host/api/state.h"
#include "host/config/config.h"
#include "host/timing/compare/decomposition.h"
#include "host/timing/report/applications.h"
#include "host/timing/report/bound.h"
#include "host/timing/report/columns.h"
#include "host/timing/report/energy_text.h"
#include "host/timing/report/explain.h"
#include "host/timing/report/json.h"
#include "host/timing/report/kernels.h"
#include "host/timing/report/launches.h"
#include "host/timing/report/registers.h"
#include "host/timing/report/table.h"

namespace nearwarp {
namespace {

/// A policy that offloads next to nothing has fewer main SMs all the same, which mostly is what it
/// loses.
std::string fewer_sms_note(const config::MachineConfig& machine,
                           std::span<const report::RunResult> results, size_t width) {
  constexpr double kNextToNothing = 0.005;
  const auto& gpu = machine.gpu;
  std::string names;
  for (const report::RunResult& r : results)
    if (r.parts.stack_sms && r.offloaded_fraction() < kNextToNothing)
      names += (names.empty() ? "" : ", ") + r.policy;
  if (names.empty() || gpu.sms <= gpu.sms_with_ndp) return "";
  return report::wrapped(
      fmt::format("{}: next to nothing was offloaded, and with stack SMs the main GPU has {} SMs "
                  "instead of {}. What these are worth alone: baseline with gpu.sms={}.",
                  names, gpu.sms_with_ndp, gpu.sms, gpu.sms_with_ndp),
      width);
}

/// The changes that each policy makes beside the first, by kernel and by what SMs did.
std::string changed_cycles(std::span<const report::RunResult> results, size_t width) {
  std::string text;
  for (size_t i = 1; i < results.size(); ++i) {
    const std::string parts = compare::format_shortly(
        compare::decompose(report::run_json(results[0]), report::run_json(results[i])),
        fmt::format("{} over {}", results[i].policy, results[0].policy), width);
    if (!parts.empty()) text += parts;
  }
  return text;
}

}  // namespace

namespace {

/// Machines are alike if all of their keys are, wherever they come from.
bool are_alike(const config::MachineConfig& a, const config::MachineConfig& b) {
  return &a == &b || config::values_text(a) == config::values_text(b);
}

/// Refuses runs that were on another machine.
void expect_on(const config::MachineConfig& machine, std::span<const Result> runs) {
  for (const Result& run : runs) {
    const report::RunResult& result = run_of(run);
    if (are_alike(run.whole->machine->config, machine)) continue;
    throw UsageError(
        fmt::format("a run of {} under {} was on another machine than '{}': on {} - give runs of "
                    "one machine, with it",
                    result.workload, result.policy, machine.name,
                    result.machine == machine.name ? "one of that name with other keys"
                                                   : "'" + result.machine + "'"));
  }
}

/// Refuses runs of another program than the first one's.
void expect_one_program(std::span<const Result> runs) {
  const auto name = [](const Result& run) {
    const report::RunResult& r = run_of(run);
    return r.size.empty() ? r.workload : r.workload + ", size " + r.size;
  };
  for (const Result& run : runs)
    if (name(run) != name(runs.front()))
      throw UsageError(
          fmt::format("a table has runs of one program, not of '{}' and '{}' - make one of each",
                      name(runs.front()), name(run)));
}

std::string table_of(std::span<const Result> runs, const TableOptions& options) {
  if (runs.empty()) return "";
  expect_one_program(runs);
  expect_on(runs.front().whole->machine->config, runs);
  std::vector<report::RunResult> results;
  for (const Result& run : runs) results.push_back(run_of(run));
  const Result::Whole& first = *runs.front().whole;
  const size_t width = options.width;
  std::string text = report::format_table(results, width, options.legend);
  if (const std::string launches = report::format_launches(results, width); !launches.empty())
    text += "\n" + launches;
  if (const std::string note = fewer_sms_note(first.machine->config, results, width); !note.empty())
    text += "\n" + note;
  if (const std::string bounds = report::format_bounds(results, width); !bounds.empty())
    text += "\n" + bounds;
  if (const std::string changed = changed_cycles(results, width); !changed.empty())
    text += "\n" + changed;
  if (const std::string kernels = report::format_kernels(results, width); !kernels.empty())
    text += "\n" + kernels;
  if (!first.one_workload || options.explain) {
    const std::string registers = report::format_registers(results, width);
    if (!registers.empty()) text += "\n" + registers;
  }
  const std::string applications = report::format_applications(results, width);
  if (!applications.empty()) text += "\n" + applications;
  const std::string sections = report::format_sections(results, width);
  if (!sections.empty()) text += "\n" + sections;
  if (!options.explain) return text;
  for (const report::RunResult& result : results)
    if (const std::string use = report::format_use(result, width); !use.empty()) text += "\n" + use;
  const std::string energy = report::format_energy(results, width);
  if (!energy.empty()) text += "\n" + energy;
  for (const report::RunResult& result : results)
    if (const std::string part = report::format_explanation(result, width); !part.empty())
      text += "\n" + part;
  const std::string legend = report::explanation_legend(results, width);
  return legend.empty() ? text : text + "\n" + legend;
}

}  // namespace

Expected<std::string> table(std::span<const Result> runs, const TableOptions& options) {
  return guarded([&] { return table_of(runs, options); });
}

Expected<std::string> document(std::span<const Result> runs, const Machine& machine) {
  return guarded([&] {
    expect_on(Access::of(machine).config, runs);
    std::vector<report::RunResult> results;
    for (const Result& run : runs) results.push_back(run_of(run));
    report::RunContext context;
    context.version = version();
    for (const config::KeyDescription& key : config::describe_whole(Access::of(machine).config))
      context.machine.emplace_back(key.key, key.value);
    return report::format_json(results, context);
  });
}

}  // namespace nearwarp
