// What of their programs sweeps simulate: --launches and --sample.
#pragma once

#include <string>

#include "host/cli/launches_words.h"
#include "host/timing/run/launch_choice.h"
#include "host/timing/sweep/run.h"

namespace nearwarp::cli {

/// Throws UsageError as set_launches().
sim::LaunchChoice launches_option(const CommandLine& line);
/// What of each program is simulated, with all that is wrong with the option beside others; null if
/// it is not given. `size`: of programs.
sweep::Divide divide_option(const CommandLine& line, const std::string& size, bool on_device);

}  // namespace nearwarp::cli
