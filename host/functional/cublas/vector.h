// Launches of the kernels of BLAS levels 1 and 2.
#pragma once

#include "host/functional/cublas/handle.h"
#include "host/functional/cublas/kernels/vector_args.h"

namespace nearwarp::cublas {

/// A factor of a call, of type f32 or f64, on the host or the device by the handle's pointer mode.
template <class T>
VectorScalar factor_at(const Handle& handle, const T* at) {
  require(at != nullptr);
  if (handle.pointer_mode == kDevicePointers) return {0, at};
  return {static_cast<double>(*at), nullptr};
}

/// Launches an operation on each element. `suffix` ends the kernel's name: f32 or f64.
void over_elements(const Handle& handle, const char* suffix, VectorOperation operation, int64_t n,
                   const void* x, int64_t x_increment, const void* y = nullptr,
                   int64_t y_increment = 0, VectorScalar alpha = {}, VectorScalar beta = {});
/// Launches an operation with one result of `bytes` bytes, which is stored at `result`, on the host
/// or the device by the handle's pointer mode. A result on the host is complete on return.
void reduce(const Handle& handle, const char* kernel, VectorOperation operation, int64_t n,
            const void* x, int64_t x_increment, const void* y, int64_t y_increment, void* result,
            size_t bytes);
/// Launches op(A) x or A += x y^T.
void matrix_vector(const Handle& handle, const char* suffix, const MatrixVectorArgs& args,
                   int64_t batch);
void outer(const Handle& handle, const char* suffix, const MatrixVectorArgs& args);
void add(const Handle& handle, const char* suffix, const AddArgs& args);

}  // namespace nearwarp::cublas
