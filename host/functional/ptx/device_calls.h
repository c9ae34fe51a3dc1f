// Functions of the CUDA runtime that device code may call (dynamic parallelism).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nearwarp::ptx {

/// Modifiers::detail of a kSystem with SystemCall::kDevice.
enum class DeviceCall : uint8_t {
  kNone,
  kGetParameterBuffer,
  kGetParameterBufferV2,
  kLaunchDevice,
  kLaunchDeviceV2,
  kStreamCreateWithFlags,
  kStreamDestroy,
  kStreamWaitEvent,
  kEventCreateWithFlags,
  kEventRecord,
  kEventRecordWithFlags,
  kEventDestroy,
  kMalloc,
  kFree,
  kMemcpyAsync,
  kMemcpy2DAsync,
  kMemcpy3DAsync,
  kMemsetAsync,
  kMemset2DAsync,
  kMemset3DAsync,
  kGetLastError,
  kPeekAtLastError,
  kGetErrorString,
  kGetErrorName,
  kGetDeviceCount,
  kGetDevice,
  kDeviceGetAttribute,
  kDeviceGetLimit,
  kDeviceGetCacheConfig,
  kDeviceGetSharedMemConfig,
  kFuncGetAttributes,
  kOccupancy,
  kOccupancyWithFlags,
  kRuntimeGetVersion,
  kGraphSetConditional,
};

/// The call that nvcc declares with this name (`__cudaCDP2LaunchDeviceV2`, `cudaLaunchDeviceV2`,
/// with or without `_ptsz`: streams of threads are those of blocks); kNone for any other.
DeviceCall device_call(std::string_view name);

/// Number of the call's arguments; structures count by their members.
size_t num_arguments(DeviceCall call);

}  // namespace nearwarp::ptx
