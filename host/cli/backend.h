// The choice of what steps the simulated systems: --backend and --device.
#pragma once

#include <memory>
#include <string>

#include "host/cli/options.h"
#include "host/sim/batch.h"

namespace nearwarp::cli {

/// Declares --backend and --device.
void declare_backend(CommandLine& line);

/// A backend that has been chosen and can be used.
struct Backend {
  bool cuda = false;
  int device = 0;  ///< with cuda
};

/// Understands the two options. Throws UsageError, or nearwarp::Error if there is no such device.
Backend chosen_backend(const CommandLine& line);

/// What runs batches on it; `threads` counts on the CPU.
std::unique_ptr<sim::BatchRunner> make_runner(const Backend& backend, unsigned threads);

}  // namespace nearwarp::cli
