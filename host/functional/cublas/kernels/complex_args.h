// Parameters of the kernels of complex numbers; the host fills them in (complex.cpp).
#pragma once

#include "host/functional/cublas/kernels/gemm_args.h"

namespace nearwarp::cublas {

/// A factor: a value, or where it is on the device.
struct ComplexScalar {
  double re, im;
  const void* at;  ///< null: the value
  int is_real;     ///< a real number, which is one number at `at`
  int reserved;
};

enum ComplexOperation : int {
  kComplexAxpy,
  kComplexScale,
  kComplexCopy,
  kComplexSwap,
  kComplexDot,
  kComplexConjugateDot,
  kComplexMagnitudes,  ///< of real and imaginary parts
  kComplexLargest,
  kComplexLeast,
};

/// Increments in elements; negative ones as BLAS has them.
struct ComplexVectorArgs {
  long long n;
  const void *x, *y;
  long long x_increment, y_increment;
  ComplexScalar alpha;
  void* result;   ///< on the device
  int operation;  ///< ComplexOperation
  int wide_result;
};

/// Operations are cublasOperation_t's: 0, 1 transposed, 2 transposed and conjugated.
struct ComplexGemmArgs {
  int m, n, k;
  int operation_a, operation_b;
  int first_column;  ///< of C, that this launch makes
  Matrix a, b, c;
  ComplexScalar alpha, beta;
};

/// y = alpha op(A) x + beta y, A column-major, m x n; of products of vectors A += alpha x op(y).
struct ComplexMatrixVectorArgs {
  int m, n, operation, reserved;
  const void *a, *x;
  void* y;
  long long lda, x_increment, y_increment, a_stride, x_stride, y_stride;
  ComplexScalar alpha, beta;
};

/// C = alpha op(A) + beta op(B), m x n.
struct ComplexAddArgs {
  int m, n, operation_a, operation_b;
  const void *a, *b;
  void* c;
  long long lda, ldb, ldc;
  ComplexScalar alpha, beta;
};

}  // namespace nearwarp::cublas
