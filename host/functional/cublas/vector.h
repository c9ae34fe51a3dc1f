// Levels 1 and 2 of BLAS: launches of their kernels.
#pragma once

#include "host/functional/cublas/handle.h"
#include "host/functional/cublas/kernels/vector_args.h"

namespace nearwarp::cublas {

/// A factor as a call of `handle` hands it over, of type f32 or f64.
template <class T>
VectorScalar factor_at(const Handle& handle, const T* at) {
  require(at != nullptr);
  if (handle.pointer_mode == kDevicePointers) return {0, at};
  return {static_cast<double>(*at), nullptr};
}

/// Operations element by element. `suffix`: f32 or f64, of kernels' names.
void over_elements(const Handle& handle, const char* suffix, VectorOperation operation, int64_t n,
                   const void* x, int64_t x_increment, const void* y = nullptr,
                   int64_t y_increment = 0, VectorScalar alpha = {}, VectorScalar beta = {});
/// Operations with one result of `bytes`: to `result`, on the host or the device, as the handle's
/// pointer mode says; on the host it is there when this returns.
void reduce(const Handle& handle, const char* kernel, VectorOperation operation, int64_t n,
            const void* x, int64_t x_increment, const void* y, int64_t y_increment, void* result,
            size_t bytes);
/// op(A) x and A += x y^T.
void matrix_vector(const Handle& handle, const char* suffix, const MatrixVectorArgs& args,
                   int64_t batch);
void outer(const Handle& handle, const char* suffix, const MatrixVectorArgs& args);
void add(const Handle& handle, const char* suffix, const AddArgs& args);

}  // namespace nearwarp::cublas
