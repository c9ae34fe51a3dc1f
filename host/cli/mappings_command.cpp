// nearwarp analyze --mappings: which mapping of data to stacks would serve the offloading
// candidates of a workload, found from its traces without simulating time.
#include <fmt/format.h>

#include <csignal>
#include <exception>

#include "bench/workloads/workload.h"
#include "host/cli/backend.h"
#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/program_recording.h"
#include "host/cli/progress_bar.h"
#include "host/cli/traced_workload.h"
#include "host/config/config.h"
#include "host/core/error.h"
#include "host/mechanisms/tom/mapping_survey.h"
#include "host/mechanisms/tom/report/mapping_analysis.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

int analyze_mappings_command(const CommandLine& line) {
  const workloads::Workload& workload = traced_workload(line.positional()[0], "mappings");
  if (line.given("kernel"))
    throw UsageError("--kernel does not go with --mappings - all kernels are analyzed together");
  const std::string size = line.text("size");
  workloads::parse_size(size);
  const Words changes = line.texts("set");
  const config::MachineConfig machine = config::load_machine(line.text("machine"), changes);
  const config::PolicyConfig policy = config::load_policy(line.text("policy"), changes);
  const Backend backend = chosen_backend(line);
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);

  catch_interrupts();
  const runtime::Recording recording = recording_of(workload, size, line.text("trace-cache"));
  tom::MappingAnalysis analysis;
  {
    ProgressBar bar("analyzing " + workload.name());
    sim::StudyOptions options;
    if (backend.cuda) options.cuda_device = backend.device;
    options.progress = [&](uint64_t done, uint64_t total) {
      bar.update(done, total);
      return !interrupted();
    };
    analysis = sim::analyze_mappings(recording, machine, policy, options);
  }
  analysis.version = version();
  analysis.workload = workload.name();
  analysis.size = size;
  analysis.overrides = changes;
  // The file is not lost because nobody reads the table.
  if (!json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(json, tom::mapping_analysis_json(analysis));
  }
  print(tom::format_mapping_analysis(analysis));
  return 0;
}

}  // namespace nearwarp::cli
