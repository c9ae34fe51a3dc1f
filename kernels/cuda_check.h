// Every CUDA call is checked. For CUDA sources only.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/device.h"

namespace nearwarp::kernels {

/// Throws what a CUDA call has to say: OutOfDeviceMemory, or DeviceError.
inline void cuda_check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  const std::string text = std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) +
                           ") from " + call + " at " + file + ":" + std::to_string(line);
  static_cast<void>(cudaGetLastError());  // not to be met again in an unrelated call
  if (code == cudaErrorMemoryAllocation) throw OutOfDeviceMemory(text);
  throw DeviceError(text);
}

}  // namespace nearwarp::kernels

#define NW_CUDA_CHECK(call) ::nearwarp::kernels::cuda_check((call), #call, __FILE__, __LINE__)
