// Checks launches of kernels and makes their work.
#pragma once

#include "host/functional/cudart/abi.h"
#include "host/functional/cudart/streams/graphs.h"
#include "host/functional/device/virtual_device.h"

namespace nearwarp::cudart {

class Runtime;
struct KernelHandle;

/// Number of thread blocks of the kernel that an SM can hold; 0 if it cannot hold one.
int blocks_per_sm(Runtime& runtime, KernelHandle& kernel, uint64_t block_threads,
                  size_t dynamic_shared_bytes);

/// The attributes of a launch.
struct LaunchKind {
  bool cooperative = false;
  Dim cluster = {0, 0, 0};  ///< 0: the kernel's own cluster size, if it has one
};

/// Reads the attributes of a launch. Unknown attributes are treated as hints and ignored. Throws
/// Failure for impossible values.
LaunchKind kind_of(const LaunchConfig* config);

/// The cluster size of a launch in thread blocks, (1,1,1) without clusters. Throws Failure for
/// impossible clusters, and for clusters that do not divide the grid.
Dim cluster_of(Runtime& runtime, KernelHandle& kernel, Dim grid, const LaunchKind& kind);

/// Throws Failure if the machine cannot run this launch. Tells the user the reason if CUDA's status
/// does not.
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

/// Check a launch and return the work that executes it. `args[i]` points to parameter i, which is
/// copied. Alternatively `extra` describes a buffer with all parameters at their offsets, by pairs
/// of 1 and its address, 2 and the address of its size, and 0 at the end. Throws Failure.
Work prepare_launch(Runtime& runtime, KernelHandle& kernel, const LaunchConfig& config, void** args,
                    const LaunchKind& kind, void** extra = nullptr);

}  // namespace nearwarp::cudart
