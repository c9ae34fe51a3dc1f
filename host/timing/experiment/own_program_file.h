// Reads [program.NAME] of an experiment's file.
#pragma once

#include <filesystem>

#include "host/timing/experiment/own_program.h"
#include "host/timing/experiment/section.h"

namespace nearwarp::experiment {

/// Paths begin in `folder`. Throws nearwarp::Error for what is wrong, with file and line.
OwnProgram read_own_program(Section& section, const std::filesystem::path& folder);

}  // namespace nearwarp::experiment
