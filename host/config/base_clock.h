// How exactly a machine's base clock represents its clocks, which are to be whole fractions of it.
#pragma once

#include <string>

#include "host/config/config.h"

namespace nearwarp::config {

/// Which of the machine's clocks are not exact, and by how much; empty if all are exact.
std::string clock_note(const MachineConfig& machine);

}  // namespace nearwarp::config
