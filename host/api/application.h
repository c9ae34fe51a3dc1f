// CUDA applications, for what the public interface does with them.
#pragma once

#include "host/api/state.h"
#include "host/programs/application.h"

namespace nearwarp {

/// Options for programs::run_application(). Throws UsageError for what cannot be.
programs::ApplicationOptions own_options(const ApplicationOptions& options,
                                         const Machine::State& machine);
/// The machine that an application takes the GPU for.
Machine machine_of(const ApplicationOptions& options);

}  // namespace nearwarp
