// Loads programs for the simulation: workloads, which are executed or taken from a cache folder,
// recordings, and Accel-Sim's traces.
#pragma once

#include <functional>
#include <string>

#include "bench/workloads/workload.h"
#include "host/functional/device/virtual_device.h"
#include "host/programs/observer.h"
#include "host/recording/accel_sim/program_reader.h"
#include "host/recording/recording.h"

namespace nearwarp::programs {

/// A hash of all that determines the recording of a workload at a size, as 32 hexadecimal digits.
std::string recording_key_of(const workloads::Workload& workload, const std::string& size);

/// Execute the workload functionally on a device with these options. Throws nearwarp::Error as
/// recording_of() does, and runtime::DeviceFault for errors of its kernels.
runtime::Recording execute_workload(const workloads::Workload& workload, workloads::Size size,
                                    runtime::VirtualDevice::Options options, Observer& observer);

/// Execute the workload functionally and check its results against the CPU reference; throws
/// nearwarp::Error if they differ, or if the observer asks it to stop. With a `cache` folder, an
/// earlier recording of the same program is used instead if there is one; else the new one is kept.
runtime::Recording recording_of(const workloads::Workload& workload, const std::string& size,
                                const std::string& cache, Observer& observer);

/// The recording that `make` returns, or the one that an earlier call with this key has left in the
/// folder `cache` (empty: no cache). `again` says, in the message about a cached recording that
/// cannot be used, what is done instead.
runtime::Recording cached_recording(const std::string& cache, const std::string& key,
                                    const std::string& again,
                                    const std::function<runtime::Recording()>& make,
                                    Observer& observer);

/// Is the name that of a recording (by `nearwarp record`), a journal, or traces by Accel-Sim's
/// tracer?
bool names_recording(const std::string& program);
/// Read a recording or traces; throws nearwarp::Error if they cannot be used. `cache` is a folder
/// for converted traces.
runtime::Recording load_recorded(const std::string& path, const std::string& cache,
                                 Observer& observer);
/// A hash, as 32 hexadecimal digits, that changes when the program's files do.
std::string recorded_key(const std::string& path);

/// Read all Accel-Sim traces of a list. Throws nearwarp::Error for traces that cannot be used, and
/// if the observer asks it to stop.
sass::TraceProgram read_traces(const std::string& path, Observer& observer);

}  // namespace nearwarp::programs
