// Products of matrices: which kernel multiplies which types, and its launches.
#pragma once

#include "host/functional/cublas/abi.h"
#include "host/functional/cublas/kernels/gemm_args.h"

namespace nearwarp::cublas {

/// A product of a batch; sizes in elements, matrices column-major.
struct Product {
  DataType a = kF32, b = kF32, c = kF32;  ///< of C and D both
  ComputeType compute = kCompute32F;
  GemmArgs args{};
  int64_t batch = 1;
};

/// Launches of it. Throws Failure: kInvalidValue where sizes do not fit, kNotSupported where there
/// is no kernel for the types.
void multiply(const Product& product, Stream stream);

/// Throws what multiply() would, of sizes and types.
void check(const Product& product);

/// alpha or beta, as a call hands it over: where the pointer mode says.
Scalar scalar_at(const void* at, DataType type, int pointer_mode);
/// The type of alpha and beta.
DataType scale_type(ComputeType compute, DataType c);

}  // namespace nearwarp::cublas
