// Programs that can be simulated: workloads, executed now or taken from a folder of those that were
// before; recordings; Accel-Sim's traces.
#pragma once

#include <functional>
#include <string>

#include "bench/workloads/workload.h"
#include "host/functional/device/virtual_device.h"
#include "host/programs/observer.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/recording.h"

namespace nearwarp::programs {

/// All that determines the recording of a workload at a size, as 32 hexadecimal digits.
std::string recording_key_of(const workloads::Workload& workload, const std::string& size);

/// Execute the workload functionally on a device with these options. Throws nearwarp::Error as
/// recording_of() does, and runtime::DeviceFault for errors of its kernels.
runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options, Observer& observer);

/// Execute the workload functionally and check its results against the CPU reference; throws
/// nearwarp::Error if they differ, or where it was not to go on. With a `cache` folder, an earlier
/// recording of the same program is used instead, and a new one is kept there.
runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache, Observer& observer);

/// The recording that `make` makes, or that an earlier call with this key has left in the folder
/// `cache`, if it is not empty. `again` says in a message what is done if it cannot be used.
runtime::Recording cached_recording(const std::string& cache, const std::string& key,
                                    const std::string& again,
                                    const std::function<runtime::Recording()>& make,
                                    Observer& observer);

/// A program that has been executed before: a recording, as `nearwarp record` writes it, or traces,
/// as Accel-Sim's tracer does.
bool names_recording(const std::string& program);
/// Read it; throws nearwarp::Error if it cannot be used. `cache` is for traces.
runtime::Recording load_recorded(const std::string& path, const std::string& cache,
                                 Observer& observer);
/// Changes with the program's files, as 32 hexadecimal digits.
std::string recorded_key(const std::string& path);

/// Read Accel-Sim's traces, all of a list. Throws nearwarp::Error for what cannot be used, and
/// where it was not to go on.
sass::TraceProgram read_traces(const std::string& path, Observer& observer);

}  // namespace nearwarp::programs
