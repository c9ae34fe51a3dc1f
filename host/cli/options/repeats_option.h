// --max-repeats: only some of several equal launches are simulated, for all of them.
#pragma once

#include <cstdint>

#include "host/cli/options.h"

namespace nearwarp::cli {

void declare_repeats(CommandLine& line);
/// The value of --max-repeats; 0 if it is not given.
uint32_t max_repeats_option(const CommandLine& line);

}  // namespace nearwarp::cli
