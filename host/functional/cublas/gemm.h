// Products of matrices: chooses a kernel for the types, and launches it.
#pragma once

#include "host/functional/cublas/abi.h"
#include "host/functional/cublas/kernels/gemm_args.h"

namespace nearwarp::cublas {

/// A batch of products D = alpha op(A) op(B) + beta C. Sizes are in elements, matrices
/// column-major.
struct Product {
  DataType a = kF32, b = kF32, c = kF32;  ///< `c` is the type of C and D
  ComputeType compute = kCompute32F;
  GemmArgs args{};
  int64_t batch = 1;
};

/// Launches a product. Throws Failure: kInvalidValue if sizes do not fit, kNotSupported if there is
/// no kernel for the types.
void multiply(const Product& product, Stream stream);

/// Throws the Failure that multiply() would throw for these sizes and types.
void check(const Product& product);

/// The value of alpha or beta of a call, on the host or the device according to the pointer mode.
Scalar scalar_at(const void* at, DataType type, int pointer_mode);
/// The type of alpha and beta.
DataType scale_type(ComputeType compute, DataType c);

}  // namespace nearwarp::cublas
