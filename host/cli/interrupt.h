// Ctrl-C: asks a run to stop, so that what it has found so far is not lost.
#pragma once

namespace nearwarp::cli {

/// From now on SIGINT and SIGTERM set a flag; a second one ends the program at once.
void catch_interrupts();

/// Has an interrupt come?
bool interrupted();

}  // namespace nearwarp::cli
