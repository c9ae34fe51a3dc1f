// PTX with a description of its launches, executed in place of an application.
#pragma once

#include <string>

#include "host/programs/observer.h"
#include "host/recording/recording.h"
#include "host/timing/experiment/own_program.h"

namespace nearwarp {

/// A text that changes with the PTX, with the launches, and with files that fill buffers.
std::string ptx_launches_key(const experiment::OwnProgram& program);

/// Executes the launches. Throws nearwarp::Error, with file and line of the description, for a
/// kernel that does not exist, arguments that do not fit its parameters, and files that cannot be
/// read; also if the observer stops it. Throws runtime::DeviceFault for errors of the kernels.
runtime::Recording execute_ptx_launches(const experiment::OwnProgram& program,
                                        programs::Observer& observer);

}  // namespace nearwarp
