// Ctrl-C asks a run to stop, so that its results so far are not lost.
#pragma once

namespace nearwarp::cli {

/// From now on SIGINT and SIGTERM set a flag; a second one ends the program at once.
void catch_interrupts();

/// Clears the flag, so that the next signal sets it again instead of ending the program.
void forget_interrupt();

/// Whether an interrupt has come since catch_interrupts() or forget_interrupt().
bool interrupted();

}  // namespace nearwarp::cli
