// nearwarp analyze --sharing: how many thread blocks and stacks share a workload's pages.
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

int analyze_sharing_command(const CommandLine& line) {
  check_traced_workload(line.positional()[0], "sharing");
  for (const char* option : {"kernel", "policy", "backend", "device"})
    if (line.given(option))
      throw UsageError(fmt::format("--{} does not go with --sharing", option));
  taken(check_size(line.text("size")));
  const Machine machine = chosen_machine(line, "coda");
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);

  catch_interrupts();
  SharingAnalysis analysis;
  {
    Notes notes;
    const Program program = traced_workload(line, notes);
    const AnalysisOptions options{.progress = notes.progress_function()};
    analysis = taken(analyze_sharing(program, machine, options));
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
