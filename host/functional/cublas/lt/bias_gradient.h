// Gradients of biases: sums over the columns of a product, or of what goes into it.
#pragma once

#include "host/functional/cublas/gemm.h"
#include "host/functional/cublas/lt/descriptors.h"

namespace nearwarp::cublas {

/// Forms the sums that the epilogue asks for, of a product of product_of() that has been launched.
/// Throws Failure.
void sum_for_bias(const Product& product, const MatmulDesc& desc, Stream stream);

}  // namespace nearwarp::cublas
