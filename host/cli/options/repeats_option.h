// --max-repeats: of launches that are the same, some stand for the others.
#pragma once

#include <cstdint>

#include "host/cli/options.h"

namespace nearwarp::cli {

void declare_repeats(CommandLine& line);
/// Its value, 0 if it is not given.
uint32_t max_repeats_option(const CommandLine& line);

}  // namespace nearwarp::cli
