// Ctrl-C: asks a run to stop, so that what it has found so far is not lost.
#pragma once

namespace nearwarp::cli {

/// From now on SIGINT and SIGTERM set a flag; a second one ends the program at once.
void catch_interrupts();

/// The interrupt that came has been dealt with: the next one is the first again.
void forget_interrupt();

/// Has an interrupt come?
bool interrupted();

}  // namespace nearwarp::cli
