// The options that choose the backend which steps the simulated machines: --backend and --device.
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

/// Throws UsageError for a --backend that does not exist, and accepts one that this machine has
/// not.
void check_backend_name(const CommandLine& line);

/// The backend that --backend and --device choose. Throws UsageError, or nearwarp::Error if there
/// is no such device.
Backend chosen_backend(const CommandLine& line);
/// As chosen_backend(), with --locate-fault, too.
Backend chosen_batch_backend(const CommandLine& line);

}  // namespace nearwarp::cli
