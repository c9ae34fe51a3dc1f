// CUDA applications on the command line: their options, and what is told of them on standard error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/cli/options.h"
#include "host/config/machine.h"
#include "host/programs/application.h"
#include "host/recording/recording_journal.h"

namespace nearwarp::cli {

using programs::ApplicationOptions;
using programs::ApplicationRun;
using programs::kApplicationInterrupted;
using programs::why_not_launched;
using programs::why_not_used;

/// Declares --kernels, --max-instructions, --trace-memory, --event-times, --registers and those of
/// execution.
void declare_application(CommandLine& line);
/// Their values. Throws UsageError if they are given and there is no application.
ApplicationOptions application_options(const CommandLine& line, const Words& application);

/// Declares --interleave, --execute-most, --time-limit, --devices and --strict-bounds.
void declare_execution(CommandLine& line);
/// ApplicationOptions::execution by them. Throws UsageError if one is given and there is no
/// application; `command` is for its example.
programs::Execution execution_options(const CommandLine& line, const Words& application,
                                      const std::string& command);

/// The value of --kernels. Throws UsageError for what is no regular expression.
std::string kernels_option(const CommandLine& line);

/// Says on standard error how the application ended, if not well.
void tell_ending(const ApplicationRun& run);

/// The processes that launched kernels, with names that tell them apart. Says on standard error
/// how the application ended, what it did wrong and what was left out. Throws nearwarp::Error if no
/// process launched a kernel that was recorded.
std::vector<runtime::Journal> take_processes(ApplicationRun& run);

/// Run `command` to its end; it has nearwarp's standard input and output. Throws UsageError for
/// what cannot be run, or not on the simulated GPU.
ApplicationRun run_application(const Words& command, const config::MachineConfig& machine,
                               const ApplicationOptions& options);

}  // namespace nearwarp::cli
