// Gets a workload's recording: executed now, or from the trace cache.
#pragma once

#include <functional>
#include <string>

#include "bench/workloads/workload.h"
#include "host/cli/options.h"
#include "host/config/machine.h"
#include "host/core/folder.h"
#include "host/functional/device/virtual_device.h"
#include "host/programs/names.h"
#include "host/programs/recordings.h"
#include "host/recording/bind.h"
#include "host/recording/recording.h"

namespace nearwarp::cli {

using programs::bound_program;
using programs::names_recording;
using programs::programs_joined;
using programs::recorded_key;
using programs::recording_key_of;

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

/// Throws UsageError if one of the programs joined by "+" is bound to stacks that the machine does
/// not have.
void check_stacks(const std::string& programs, const config::MachineConfig& machine);

/// All that determines the recording of workloads joined by "+", which run at the same time.
std::string mix_key_of(const std::string& names, const std::string& size,
                       const std::string& command);
/// Recordings of launches limited to `max_repeats` of those that are the same; 0: all.
runtime::Recording mix_recording_of(const std::string& names, const std::string& size,
                                    const std::string& cache, uint32_t max_repeats = 0);

/// The recording that `make` makes, or that an earlier call with this key has left in the folder
/// `cache`, if it is not empty. `again` says in a message what is done if it cannot be used.
runtime::Recording cached_recording(const std::string& cache, const std::string& key,
                                    const std::string& again,
                                    const std::function<runtime::Recording()>& make);

/// Read it; throws nearwarp::Error if it cannot be used. `cache` is for traces.
runtime::Recording load_recorded(const std::string& path, const std::string& cache);

}  // namespace nearwarp::cli
