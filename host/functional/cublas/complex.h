// BLAS of complex numbers: launches of its kernels.
#pragma once

#include "host/functional/cublas/handle.h"
#include "host/functional/cublas/kernels/complex_args.h"

namespace nearwarp::cublas {

/// The name of a complex type in kernels' names: c32 or c64.
inline const char* suffix_of(DataType type) { return type == kC64 ? "c64" : "c32"; }

/// A factor as a call of `handle` hands it over, of complex type T or, with `Real`, of its parts'.
template <class T>
ComplexScalar complex_factor(const Handle& handle, const void* at, bool is_real = false) {
  require(at != nullptr);
  if (handle.pointer_mode == kDevicePointers) return {0, 0, at, is_real ? 1 : 0, 0};
  const auto* const parts = static_cast<const T*>(at);
  return {static_cast<double>(parts[0]), is_real ? 0 : static_cast<double>(parts[1]), nullptr,
          is_real ? 1 : 0, 0};
}
inline ComplexScalar complex_factor(const Handle& handle, const void* at, DataType type) {
  return type == kC64 ? complex_factor<double>(handle, at) : complex_factor<float>(handle, at);
}

// Calls on matrices and vectors of `type` kC32 or kC64. All throw Failure.

void complex_multiply(const Handle& handle, DataType type, const ComplexGemmArgs& args,
                      int64_t batch);
void complex_add(const Handle& handle, DataType type, const ComplexAddArgs& args);
void complex_matrix_vector(const Handle& handle, DataType type, const ComplexMatrixVectorArgs& args,
                           int64_t batch);
void complex_outer(const Handle& handle, DataType type, const ComplexMatrixVectorArgs& args);
void complex_elements(const Handle& handle, DataType type, const ComplexVectorArgs& args);
/// One result of `bytes`: to `result`, on the host or the device, as the handle's pointer mode
/// says; on the host it is there when this returns. `kernel`: reduce, nrm2 or index.
void complex_reduce(const Handle& handle, DataType type, const char* kernel, ComplexVectorArgs args,
                    void* result, size_t bytes);

}  // namespace nearwarp::cublas
