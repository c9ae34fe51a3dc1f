// Reads one kernel launch from a file with an index (".tracez").
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/recording/accel_sim/launch_builder.h"
#include "host/recording/accel_sim/tracez_file.h"

namespace nearwarp::sass {

/// The header of the file. Throws nearwarp::Error as read_kernel_header() does.
KernelHeader header_of(const TracezFile& file);

/// Read all of it, a part of a warp at a time, in the order of its thread blocks. `progress` is
/// called now and then with the position in the file, and may throw. Throws nearwarp::Error, with
/// file, thread block, warp and instruction, for what is malformed, missing, or twice there.
/// Names of markers are added to `markers`.
runtime::LaunchRecord read_tracez(TracezFile& file, const KernelHeader& header,
                                  LaunchBuilder& builder,
                                  const std::function<void(uint64_t position)>& progress,
                                  std::vector<std::string>* markers);

}  // namespace nearwarp::sass
