// Launches batches, with the device memory that they need beside the systems' arenas.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/batch_layout.h"
#include "kernels/device.h"

namespace nearwarp::kernels {

/// A system of a launch.
struct BatchMember {
  RunState run;                           ///< with the arena on the device; the launch updates it
  std::span<const Component> components;  ///< the host's, of which kinds and clusters are used
  uint64_t committed = 0;                 ///< warp-instructions committed, set by the launch
};

/// Runs launches of several systems on a device.
class BatchLauncher {
 public:
  explicit BatchLauncher(Device& device) : device_(&device) {}

  /// Make room for `systems` systems, with `components` components in all. Throws
  /// OutOfDeviceMemory, and then keeps the room that there was before.
  void reserve(size_t systems, size_t components);
  /// Run a launch of `members`. `cohorts`: 0 for as many as fit.
  LaunchReport run(std::span<BatchMember> members, const Slice& slice, uint32_t cohorts = 0);

 private:
  Device* device_;
  DeviceBuffer room_;
};

}  // namespace nearwarp::kernels
