// nearwarp analyze --sharing: how many thread blocks and stacks share a workload's pages.
#include <fmt/format.h>

#include <csignal>

#include "host/cli/commands.h"
#include "host/cli/interrupt.h"
#include "host/cli/program_recording.h"
#include "host/cli/progress_bar.h"
#include "host/cli/terminal.h"
#include "host/cli/traced_workload.h"
#include "host/config/config.h"
#include "host/mechanisms/coda/sharing.h"
#include "host/timing/report/file.h"

namespace nearwarp::cli {

int analyze_sharing_command(const CommandLine& line) {
  const workloads::Workload& workload = traced_workload(line.positional()[0], "sharing");
  for (const char* option : {"kernel", "policy", "backend", "device"})
    if (line.given(option))
      throw UsageError(fmt::format("--{} does not go with --sharing", option));
  const std::string size = line.text("size");
  workloads::parse_size(size);
  const config::MachineConfig machine = config::load_machine(
      line.given("machine") ? line.text("machine") : "coda", line.texts("set"));
  const std::string json = line.text("json");
  if (!json.empty()) report::check_writable(json);

  catch_interrupts();
  const runtime::Recording recording = recording_of(workload, size, line.text("trace-cache"));
  coda::PageSharing sharing;
  {
    ProgressBar bar("analyzing " + workload.name());
    sharing = coda::study_sharing(recording, machine, [&](uint64_t done, uint64_t total) {
      bar.update(done, total);
      return !interrupted();
    });
  }
  sharing.version = version();
  sharing.workload = workload.name();
  sharing.size = size;
  // The file is not lost because nobody reads the table.
  if (!json.empty()) {
    std::signal(SIGPIPE, SIG_IGN);
    report::write_file(json, coda::page_sharing_json(sharing));
  }
  print(coda::format_page_sharing(sharing, output_width()));
  return 0;
}

}  // namespace nearwarp::cli
