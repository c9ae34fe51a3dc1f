// Executes a workload and records what it does.
#pragma once

#include <cstdint>

#include "bench/workloads/workload.h"
#include "host/recording/recording.h"

namespace nearwarp::workloads {

/// The number of thread-instructions to record at a size, 0 for all: a quarter more than are
/// simulated, so that the machine stays full to the end.
uint64_t instruction_limit(Size size);

/// Execute the workload on a device with these options, and compare its results with the CPU's.
/// Throws nearwarp::Error if they differ, runtime::DeviceFault for errors of its kernels and
/// Interrupted if options.progress has stopped it.
runtime::Recording execute(const Workload& workload, Size size,
                           runtime::VirtualDevice::Options options);

/// Makes runs of size paper end where the papers' runs do.
void limit_runs(Size size, runtime::Recording& recording);

}  // namespace nearwarp::workloads
