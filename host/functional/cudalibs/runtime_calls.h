// Calls of the runtime library by CUDA's libraries here, beside which applications load it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nearwarp::cudalibs {

/// dim3
struct Dim {
  uint32_t x = 1, y = 1, z = 1;
};
using Stream = void*;  // cudaStream_t

extern "C" {
int cudaLibraryLoadData(void** library, const void* code, const int* options, void** values,
                        unsigned num_options, const int* library_options, void** library_values,
                        unsigned num_library_options);
int cudaLibraryGetKernel(void** kernel, void* library, const char* name);
int cudaLaunchKernel(const void* function, Dim grid, Dim block, void** args, size_t shared_bytes,
                     Stream stream);
int cudaGetDevice(int* device);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaMalloc(void** pointer, size_t bytes);
int cudaMallocAsync(void** pointer, size_t bytes, Stream stream);
int cudaFree(void* pointer);
int cudaFreeAsync(void* pointer, Stream stream);
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, Stream stream);
int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t height, int kind, Stream stream);
int cudaMemsetAsync(void* to, int value, size_t bytes, Stream stream);
int cudaStreamSynchronize(Stream stream);
}

inline constexpr int kComputeCapabilityMajor = 75;  // cudaDevAttrComputeCapabilityMajor
inline constexpr int kCopyDefault = 4;              // cudaMemcpyDefault

}  // namespace nearwarp::cudalibs
