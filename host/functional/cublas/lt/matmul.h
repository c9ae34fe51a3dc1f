// cublasLt's product, in terms of the kernels.
#pragma once

#include "host/functional/cublas/gemm.h"
#include "host/functional/cublas/lt/descriptors.h"

namespace nearwarp::cublas {

struct MatmulMatrices {
  const MatrixLayout *a, *b, *c, *d;
};

/// Throws Failure: kInvalidValue where shapes do not fit, kNotSupported where there is no kernel.
/// Pointers to data and factors are filled in by the caller: see Matmul::launch().
Product product_of(const MatmulDesc& desc, const MatmulMatrices& matrices);

/// Were rows exchanged for columns, and so A for B? C^T = B^T A^T.
bool is_row_major(const MatmulMatrices& matrices);

}  // namespace nearwarp::cublas
