// Reads one kernel launch from a file with an index (".tracez").
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/recording/accel_sim/launch_builder.h"
#include "host/recording/accel_sim/tracez_file.h"

namespace nearwarp::sass {

/// Parses the header of the file. Throws nearwarp::Error as read_kernel_header() does.
KernelHeader header_of(const TracezFile& file);

/// Read the whole launch, one part of a warp at a time, in the order of the thread blocks.
/// `progress` is called after each warp with the furthest position in the file so far, and may
/// throw. Names of markers are added to `markers`. Throws nearwarp::Error, with file, thread block,
/// warp and instruction, if something is malformed, missing or duplicate.
runtime::LaunchRecord read_tracez(TracezFile& file, const KernelHeader& header,
                                  LaunchBuilder& builder,
                                  const std::function<void(uint64_t position)>& progress,
                                  std::vector<std::string>* markers);

}  // namespace nearwarp::sass
