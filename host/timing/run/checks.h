// Checks that a run's end is in order, and words for a run that does not end.
#pragma once

#include <string>

#include "host/mechanisms/mechanism.h"
#include "host/recording/recording.h"
#include "host/timing/machine/system.h"

namespace nearwarp::sim {

/// Conservation at the end of a complete run: channels empty, bytes sent equal bytes received, no
/// slot held, instructions committed equal instructions recorded. Throws nearwarp::Error.
/// `expected_instructions` 0: do not compare (moves are not charged).
void check_conservation(System& system, uint64_t expected_instructions);

/// Throws nearwarp::Error if a component has recorded a fault.
void check_faults(System& system);

/// Who waits on whom: packets that stand in channels, warps by what they wait for.
std::string describe_stall(System& system, const MechanismRuns& mechanisms);

}  // namespace nearwarp::sim
