// nearwarp probe: latencies and bandwidths of a machine, measured by programs that run on it.
#include <fmt/format.h>

#include "bench/probes/programs.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress_bar.h"
#include "host/cli/terminal.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/core/workers.h"
#include "host/timing/probe/report.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {
namespace {

CommandLine declare_probe() {
  CommandLine line("probe", "",
                   "Measure a machine's unloaded latencies and the bandwidths that it reaches, by\n"
                   "small programs that are simulated on it (docs/probe.md)");
  line.value("machine", "name, or path of a .toml file", "NAME", "tom");
  line.list("set", "override a key of the machine; repeatable", "KEY=VALUE");
  line.value("threads", "runs at a time; default: all processors", "N");
  line.value("json", "write everything to this file (docs/probe.md)", "FILE");
  offer_usual(line);
  line.offer("set", machine_key_values);
  return line;
}

/// Policies are not the user's choice here.
void refuse_policy_keys(const Words& overrides) {
  for (const std::string& text : overrides) {
    config::PolicyConfig policy = config::load_policy("baseline");
    if (config::apply_override(policy, text))
      throw UsageError(
          fmt::format("--set {} is a key of policies - 'nearwarp probe' takes those of "
                      "the machine",
                      text));
  }
}

int run_probe(const CommandLine& line, const Words& /*application*/) {
  const Words overrides = line.texts("set");
  const config::MachineConfig machine = config::load_machine(line.text("machine"), overrides);
  refuse_policy_keys(overrides);
  const unsigned threads =
      line.given("threads") ? static_cast<unsigned>(line.number("threads", 1, 1024)) : processors();
  if (line.given("json")) report::check_writable(line.text("json"));
  const std::vector<probe::Section> sections = probe::plan(machine);
  catch_interrupts();
  size_t ended = 0, all = 0;
  probe::Findings findings;
  {
    ProgressBar bar("probing", "runs");
    const probe::Watch watch = [&](size_t done, size_t of) {
      ended = done;
      all = of;
      bar.update(done, of);
      return !interrupted();
    };
    findings = probe::measure(machine, sections, probe::record, threads, watch);
  }
  if (line.given("json"))
    report::write_file(line.text("json"), probe::json_text(machine, sections, findings, version()));
  print(probe::table_text(machine, sections, findings, output_width()));
  if (!interrupted()) return 0;
  throw Error(fmt::format("interrupted: {} of {} runs came to their end", ended, all));
}

}  // namespace

Command probe_command() {
  return {.name = "probe",
          .uses = {{"[OPTION...]", "latencies, bandwidths of a machine"}},
          .declare = declare_probe,
          .least = 0,
          .most = 0,
          .run = run_probe};
}

}  // namespace nearwarp::cli
