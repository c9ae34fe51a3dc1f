// Launching kernels by host function or handle.
#pragma once

#include "host/cudart/abi.h"
#include "host/cudart/graphs.h"

namespace nearwarp::cudart {

class Runtime;
struct KernelHandle;

/// Thread blocks of the kernel that fit on an SM at once; 0 if not even one does.
int blocks_per_sm(Runtime& runtime, KernelHandle& kernel, uint64_t block_threads,
                  size_t dynamic_shared_bytes);

/// Can the machine run this? Throws Failure, after saying why where CUDA's status does not.
void check_launch(Runtime& runtime, KernelHandle& kernel, const LaunchConfig& config,
                  bool cooperative);

/// Check everything; what is returned executes the launch. `args[i]` points to parameter i, which
/// is copied. Throws Failure.
Work prepare_launch(Runtime& runtime, KernelHandle& kernel, const LaunchConfig& config, void** args,
                    bool cooperative);

}  // namespace nearwarp::cudart
