// cuBLAS 13's binary interface, as far as the library implements it. Written out here, so that
// building needs no CUDA toolkit; where there is one, a test compares it with the toolkit's
// headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearwarp::cublas {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kArchMismatch = 8,
  kMappingError = 11,
  kExecutionFailed = 13,
  kInternalError = 14,
  kNotSupported = 15,
  kLicenseError = 16,
};

enum Operation : int { kNone = 0, kTranspose = 1, kConjugateTranspose = 2 };
enum MathMode : int { kTf32Math = 3, kMathModes = 15 };  // without flags
enum PointerMode : int { kHostPointers = 0, kDevicePointers = 1 };

/// cudaDataType
enum DataType : int {
  kF32 = 0,
  kF64 = 1,
  kF16 = 2,
  kS8 = 3,
  kC32 = 4,
  kC64 = 5,
  kS32 = 10,
  kBf16 = 14,
};

/// cublasComputeType_t
enum ComputeType : int {
  kCompute16F = 64,
  kCompute16FPedantic = 65,
  kCompute32F = 68,
  kCompute32FPedantic = 69,
  kCompute64F = 70,
  kCompute64FPedantic = 71,
  kCompute32I = 72,
  kCompute32IPedantic = 73,
  kCompute32FFast16F = 74,
  kCompute32FFast16Bf = 75,
  kCompute32FFastTf32 = 77,
};

using Stream = void*;  // cudaStream_t

}  // namespace nearwarp::cublas
