// nearwarp analyze --mappings: which mapping of data to stacks would serve the offloading
// candidates of a workload, found from its traces without simulating time.
#include <csignal>

#include "host/api/nearwarp/analysis.h"
#include "host/cli/commands.h"
#include "host/cli/expected.h"
#include "host/cli/interrupt.h"
#include "host/cli/options/backend.h"
#include "host/cli/options/chosen.h"
#include "host/cli/programs/traced_workload.h"
#include "host/cli/progress/notes.h"
#include "host/core/error.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

int analyze_mappings_command(const CommandLine& line) {
  check_traced_workload(line.positional()[0], "mappings");
  if (line.given("kernel"))
    throw UsageError("--kernel does not go with --mappings - all kernels are analyzed together");
  taken(check_size(line.text("size")));
  const Machine machine = chosen_machine(line);
  const Policy policy = chosen_policy(line);
  const Backend backend = chosen_backend(line);
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);

  catch_interrupts();
  MappingAnalysis analysis;
  {
    Notes notes;
    const Program program = traced_workload(line, notes);
    AnalysisOptions options;
    if (backend.cuda) {
      options.backend = "cuda";
      options.device = backend.device;
    }
    options.progress = notes.progress_function();
    analysis = taken(analyze_mappings(program, machine, policy, options));
  }
  // A reader of the table who leaves early must not end the program before the file is written.
  if (!json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(json, analysis.document);
  }
  print(analysis.text);
  return 0;
}

}  // namespace nearwarp::cli
