// CUDA applications of commands that look at more than programs of the public interface have: the
// terminal's side of it.
#pragma once

#include <vector>

#include "host/cli/application_options.h"
#include "host/config/machine.h"
#include "host/programs/application.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::cli {

using programs::kApplicationInterrupted;
using programs::why_not_launched;
using programs::why_not_used;

/// As set_execution() has it.
programs::Execution execution_of(const ApplicationOptions& options);

/// Says on standard error how the application ended, if not well.
void tell_ending(const programs::ApplicationRun& run);

/// The processes that launched kernels, with names that tell them apart. Says on standard error
/// how the application ended, what it did wrong and what was left out. Throws nearwarp::Error if no
/// process launched a kernel that was recorded.
std::vector<runtime::Journal> take_processes(programs::ApplicationRun& run);

/// Run `command` to its end; it has nearwarp's standard input and output. Throws UsageError for
/// what cannot be run, or not on the simulated GPU.
programs::ApplicationRun run_application(const Words& command, const config::MachineConfig& machine,
                                         const programs::ApplicationOptions& options);

}  // namespace nearwarp::cli
