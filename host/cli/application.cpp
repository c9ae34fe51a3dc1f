// CUDA applications of commands that look at more than programs of the public interface have: the
// terminal's side of it.
#include "host/cli/application.h"

#include "host/cli/interrupt.h"
#include "host/cli/observer.h"

namespace nearwarp::cli {

programs::Execution execution_of(const ApplicationOptions& options) {
  return {.interleave = options.interleave,
          .most_thread_instructions = options.execute_most,
          .most_seconds = options.time_limit_seconds,
          .devices = options.devices,
          .strict_bounds = options.strict_bounds};
}

void tell_ending(const programs::ApplicationRun& run) {
  Terminal terminal;
  programs::tell_ending(run, terminal);
}

std::vector<runtime::Journal> take_processes(programs::ApplicationRun& run) {
  Terminal terminal;
  return programs::take_processes(run, terminal);
}

programs::ApplicationRun run_application(const Words& command, const config::MachineConfig& machine,
                                         const programs::ApplicationOptions& options) {
  Terminal terminal;
  programs::ApplicationRun run = programs::run_application(command, machine, options, terminal);
  if (run.interrupted) forget_interrupt();
  return run;
}

}  // namespace nearwarp::cli
