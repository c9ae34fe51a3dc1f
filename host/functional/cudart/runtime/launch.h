// Launching kernels by host function or handle.
#pragma once

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/streams/graphs.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::cudart {

class Runtime;
struct KernelHandle;

/// Thread blocks of the kernel that fit on an SM at once; 0 if not even one does.
int blocks_per_sm(Runtime& runtime, KernelHandle& kernel, uint64_t block_threads,
                  size_t dynamic_shared_bytes);

/// The attributes of a launch.
struct LaunchKind {
  bool cooperative = false;
  Dim cluster = {0, 0, 0};  ///< 0: what the kernel asks for
};

/// Reads the attributes of a launch; those that are not known are hints. Throws Failure.
LaunchKind kind_of(const LaunchConfig* config);

/// Blocks of a cluster of such a launch, (1,1,1) without clusters. Throws Failure for clusters that
/// cannot be, or that do not divide the grid.
Dim cluster_of(Runtime& runtime, KernelHandle& kernel, Dim grid, const LaunchKind& kind);

/// Can the machine run this? Throws Failure, after saying why where CUDA's status does not.
void check_launch(Runtime& runtime, KernelHandle& kernel, const LaunchConfig& config,
                  const LaunchKind& kind);

/// The work that prepare_launch() makes.
struct KernelWork {
  KernelHandle* handle = nullptr;
  LaunchConfig config;
  LaunchKind kind;
  runtime::KernelArgs args;
  void operator()(Runtime& r) const;
};

/// Check everything; what is returned executes the launch. `args[i]` points to parameter i, which
/// is copied. Instead of that, `extra` may name a buffer that has all parameters at their offsets:
/// pairs of 1 and its address, 2 and the address of its size, and 0 at the end. Throws Failure.
Work prepare_launch(Runtime& runtime, KernelHandle& kernel, const LaunchConfig& config, void** args,
                    const LaunchKind& kind, void** extra = nullptr);

}  // namespace nearwarp::cudart
