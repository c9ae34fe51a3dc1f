// nearwarp probe: latencies and bandwidths of a machine, measured by programs that run on it.
#include <fmt/format.h>

#include "host/api/nearwarp/parts.h"
#include "host/cli/command.h"
#include "host/cli/commands.h"
#include "host/cli/completion/values.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/progress/notes.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
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

int run_probe(const CommandLine& line, const Words& /*application*/) {
  // The probes choose their policies themselves: keys of policies are refused.
  const Machine machine = taken(Machine::load(line.text("machine"), line.texts("set")));
  ProbeOptions options;
  if (line.given("threads"))
    options.threads = static_cast<unsigned>(line.number("threads", 1, 1024));
  if (line.given("json")) report::check_writable(line.text("json"));
  catch_interrupts();
  ProbeReport found;
  {
    Notes notes;
    options.progress = notes.progress_function();
    found = taken(probe_machine(machine, options));
  }
  if (line.given("json")) report::write_file(line.text("json"), found.document);
  print(taken(found.text(output_width())));
  if (!found.stopped()) return 0;
  throw Error(fmt::format("interrupted: {} of {} runs came to their end", found.ended, found.runs));
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
