// Which launches of a program wait for which.
#pragma once

#include "host/recording/recording.h"
#include "host/timing/program/image_builder.h"

namespace nearwarp::sim {

/// Fills LaunchInfo::waits_for, first_waiting and num_waiting and ImageTables::waiting from what
/// the recording says of the order of its launches.
void add_launch_waits(const runtime::Recording& recording, ImageTables& image);

}  // namespace nearwarp::sim
