// Executes probe programs on the virtual device.
#pragma once

#include "host/timing/probe/program.h"

namespace nearwarp::probe {

/// Throws nearwarp::Error if the program gives a wrong result.
runtime::Recording record(const Program& program);

}  // namespace nearwarp::probe
