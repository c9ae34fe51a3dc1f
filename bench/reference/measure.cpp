#include "bench/reference/measure.h"

#include <fmt/format.h>

#include <regex>

#include "bench/reference/programs.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/timing/run/cpu_replay.h"

namespace nearwarp::reference {
namespace {

Row run(const Figures& figures, const Configuration& configuration, const Setting& setting) {
  std::vector<std::string> overrides = configuration.overrides;
  overrides.insert(overrides.end(), setting.set.begin(), setting.set.end());
  const config::MachineConfig machine = config::load_machine(
      setting.machine.empty() ? configuration.machine : setting.machine, overrides);
  runtime::VirtualDevice device;
  if (!run_program(device, figures.program, figures.arguments))
    throw Error(fmt::format("{}: a wrong result - see tests/validation", figures.run));
  const runtime::Recording recording = device.take_recording(figures.run);
  sim::SimOptions options;
  options.threads = setting.threads;
  const report::RunResult result =
      sim::replay_on_cpu(recording, machine, config::load_policy("baseline"), options);
  Row row;
  row.name = figures.run;
  if (!configuration.variant.empty()) row.name += " " + configuration.variant;
  row.figures = figures;
  row.ours = ours(result, configuration);
  row.theirs = theirs(figures, configuration);
  return row;
}

}  // namespace

std::vector<Row> measure(const Setting& setting, const std::vector<Figures>& figures,
                         const std::string& run_regex) {
  const std::regex wanted(run_regex);
  std::vector<Row> rows;
  for (const Configuration& c : configurations(setting.config))
    for (const Figures& f : figures)
      if (f.config == c.name && std::regex_search(f.run, wanted))
        rows.push_back(run(f, c, setting));
  return rows;
}

}  // namespace nearwarp::reference
