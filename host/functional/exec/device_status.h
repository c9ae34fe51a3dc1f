// Statuses and streams of the CUDA runtime as device code names them.
#pragma once

#include <cstdint>

namespace nearwarp::runtime::device_status {

/// cudaError_t
enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kMaxDepthExceeded = 65,
  kPendingCountExceeded = 69,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kInvalidResourceHandle = 400,
  kLaunchOutOfResources = 701,
  kNotSupported = 801,
};

/// cudaStream_t that need no creation: that of the block (three names), and those of the grid.
inline constexpr uint64_t kBlockStreams = 2, kTailLaunch = 3, kFireAndForget = 4;

}  // namespace nearwarp::runtime::device_status
