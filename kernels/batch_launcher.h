// Launches of batches, and the memory that they need beside the systems' arenas.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/batch_layout.h"
#include "kernels/device.h"

namespace nearwarp::kernels {

/// A system for a launch.
struct BatchMember {
  RunState run;  ///< its arena that on the device; afterwards, how it was left
  std::span<const Component> components;  ///< the host's; their kinds and clusters count
  uint64_t committed = 0;                 ///< warp-instructions, afterwards
};

class BatchLauncher {
 public:
  explicit BatchLauncher(Device& device) : device_(&device) {}

  /// Make room for so many systems, with so many components together. Throws OutOfDeviceMemory;
  /// there is room for as much as before then.
  void reserve(size_t systems, size_t components);
  /// One launch. `cohorts`: 0 for as many as fit.
  LaunchReport run(std::span<BatchMember> members, const Slice& slice, uint32_t cohorts = 0);

 private:
  Device* device_;
  DeviceBuffer room_;
};

}  // namespace nearwarp::kernels
