// PTX with a description of its launches, executed in place of an application.
#pragma once

#include <string>

#include "host/programs/observer.h"
#include "host/recording/recording.h"
#include "host/timing/experiment/own_program.h"

namespace nearwarp {

/// Changes with the PTX, with files that buffers are filled from and with the launches.
std::string ptx_launches_key(const experiment::OwnProgram& program);

/// Throws nearwarp::Error, with file and line of the description, for a kernel that is not there,
/// arguments that do not fit its parameters, and files that cannot be read; where it was not to go
/// on; and runtime::DeviceFault for errors of the kernels.
runtime::Recording execute_ptx_launches(const experiment::OwnProgram& program,
                                        programs::Observer& observer);

}  // namespace nearwarp
