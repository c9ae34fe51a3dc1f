// Errors of a machine's clocks, which are simulated as whole fractions of its base clock.
#pragma once

#include <string>

#include "host/config/config.h"

namespace nearwarp::config {

/// A sentence on the clocks that the base clock does not represent exactly, with their errors in
/// ppm; empty if all are exact.
std::string clock_note(const MachineConfig& machine);

}  // namespace nearwarp::config
