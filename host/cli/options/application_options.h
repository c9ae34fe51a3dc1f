// Options of commands that run CUDA applications.
#pragma once

#include <string>

#include "host/api/nearwarp.h"
#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declares --kernels, --max-instructions, --trace-memory, --event-times, --registers and those of
/// execution.
void declare_application(CommandLine& line);
/// The values of these options. Throws UsageError if one is given without an application.
ApplicationOptions application_options(const CommandLine& line, const Words& application);

/// Declares --interleave, --execute-most, --time-limit, --devices and --strict-bounds.
void declare_execution(CommandLine& line);
/// Sets the options' members from these. Throws UsageError, with an example of `command`, if one is
/// given without an application.
void set_execution(const CommandLine& line, const Words& application, const std::string& command,
                   ApplicationOptions& options);

/// The value of --kernels. Throws UsageError for what is no regular expression.
std::string kernels_option(const CommandLine& line);

}  // namespace nearwarp::cli
