// Calls of the runtime library that this library makes; applications load both.
#pragma once

#include "host/functional/cublas/abi.h"
#include "host/functional/cudalibs/runtime_calls.h"

namespace nearwarp::cublas {

using cudalibs::cudaDeviceGetAttribute;
using cudalibs::cudaFreeAsync;
using cudalibs::cudaGetDevice;
using cudalibs::cudaLaunchKernel;
using cudalibs::cudaMallocAsync;
using cudalibs::cudaMemcpy2DAsync;
using cudalibs::cudaMemcpyAsync;
using cudalibs::cudaStreamSynchronize;
using cudalibs::Dim;
using cudalibs::kComputeCapabilityMajor;
using cudalibs::kCopyDefault;

}  // namespace nearwarp::cublas
