// Checks the result of a CUDA call. For CUDA sources only.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/device.h"

namespace nearwarp::kernels {

/// Throw OutOfDeviceMemory or DeviceError if a CUDA call has failed.
inline void cuda_check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  const std::string text = std::string(cudaGetErrorString(code)) + " (" + cudaGetErrorName(code) +
                           ") from " + call + " at " + file + ":" + std::to_string(line);
  static_cast<void>(cudaGetLastError());  // clear the error, which a later call would return again
  if (code == cudaErrorMemoryAllocation) throw OutOfDeviceMemory(text);
  throw DeviceError(text);
}

}  // namespace nearwarp::kernels

#define NW_CUDA_CHECK(call) ::nearwarp::kernels::cuda_check((call), #call, __FILE__, __LINE__)
