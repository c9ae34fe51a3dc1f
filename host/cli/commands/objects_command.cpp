// nearwarp analyze --objects: where rules of placement put a workload's memory objects.
#include <fmt/format.h>

#include <csignal>

#include "host/api/nearwarp/analysis.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/chosen.h"
#include "host/cli/programs/traced_workload.h"
#include "host/cli/progress/notes.h"
#include "host/cli/terminal.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

int analyze_objects_command(const CommandLine& line) {
  check_traced_workload(line.positional()[0], "objects");
  for (const char* option : {"kernel", "backend", "device"})
    if (line.given(option))
      throw UsageError(fmt::format("--{} does not go with --objects", option));
  taken(check_size(line.text("size")));
  const Machine machine = chosen_machine(line, "coda");
  const Policy policy = chosen_policy(line, "coda");
  if (taken(policy.get("policy.mapping")) != "\"coda\"")
    throw UsageError(fmt::format(
        "policy '{}' places no objects (policy.mapping = {}) - take one that does, such as coda",
        policy.name(), taken(policy.get("policy.mapping"))));
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);

  catch_interrupts();
  ObjectAnalysis analysis;
  {
    Notes notes;
    const Program program = traced_workload(line, notes);
    const AnalysisOptions options{.progress = notes.progress_function()};
    analysis = taken(analyze_objects(program, machine, policy, options));
  }
  // A reader of the table who leaves early must not end the program before the file is written.
  if (!json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(json, analysis.document);
  }
  print(taken(analysis.text(output_width())));
  return 0;
}

}  // namespace nearwarp::cli
