// Gets a workload's recording: executed now, or from the trace cache.
#pragma once

#include <string>

#include "bench/workloads/workload.h"
#include "host/cli/options.h"
#include "host/functional/device/virtual_device.h"
#include "host/programs/recordings.h"
#include "host/recording/recording.h"

namespace nearwarp::cli {

using programs::names_recording;

// As their namesakes in host/programs/recordings.h, with a bar, notes and Ctrl-C on the terminal.

/// Throws UsageError for one that does not exist: with the nearest name, or if it is a file, with
/// what to do with that. `command`: the user's.
const workloads::Workload& workload_named(const std::string& name,
                                          const std::string& command = "run");

/// Execute the workload functionally on a device with these options, with a progress bar. Throws
/// nearwarp::Error as recording_of() does, and runtime::DeviceFault for errors of its kernels.
runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options);

/// Execute the workload functionally and check its results against the CPU reference; throws
/// nearwarp::Error if they differ, or after an interrupt. With a `cache` folder, an earlier
/// recording of the same program is used instead, and a new one is kept there.
runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache);

}  // namespace nearwarp::cli
