// The clock of which all clocks of a machine are whole fractions.
#pragma once

#include <string>

#include "host/config/config.h"

namespace nearwarp::config {

/// Which of the machine's clocks are not exact, and by how much; empty if all are.
std::string clock_note(const MachineConfig& machine);

}  // namespace nearwarp::config
