// The choice of what steps the simulated systems: --backend and --device.
#pragma once

#include <string>

#include "host/cli/options.h"

namespace nearwarp::cli {

/// Declares --backend and --device.
void declare_backend(CommandLine& line);

/// Declares --backend, --device and --locate-fault, for commands that run batches.
void declare_batch_backend(CommandLine& line);

/// A backend that has been chosen and can be used.
struct Backend {
  bool cuda = false;
  int device = 0;             ///< with cuda
  bool locate_fault = false;  ///< see sim::AcceleratorBatchOptions
};

/// Throws UsageError for a --backend that does not exist, whatever there is here.
void check_backend_name(const CommandLine& line);

/// Understands the two options. Throws UsageError, or nearwarp::Error if there is no such device.
Backend chosen_backend(const CommandLine& line);
/// The backend that was chosen of those that declare_batch_backend() offers.
Backend chosen_batch_backend(const CommandLine& line);

}  // namespace nearwarp::cli
