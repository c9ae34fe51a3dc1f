// Parameters of the kernels of levels 1 and 2; the host fills them in (vector.cpp).
#pragma once

namespace nearwarp::cublas {

/// A factor: a value, or where it is on the device.
struct VectorScalar {
  double value;
  const void* at;  ///< null: `value`
};

enum VectorOperation : int {
  kAxpy,
  kScale,
  kCopy,
  kSwap,
  kRotate,
  kDot,
  kMagnitudes,
  kLargest,
  kLeast
};

/// Increments in elements; negative ones as BLAS has them.
struct VectorArgs {
  long long n;
  const void *x, *y;
  long long x_increment, y_increment;
  VectorScalar alpha, beta;  ///< of a rotation its cosine and sine
  void* result;              ///< on the device
  int operation;             ///< VectorOperation
  int wide_result;           ///< an index of 64 bits
};

/// A is column-major, m x n.
struct MatrixVectorArgs {
  int m, n, transpose, reserved;
  const void *a, *x;
  void* y;
  long long lda, x_increment, y_increment, a_stride, x_stride, y_stride;
  VectorScalar alpha, beta;
};

struct AddArgs {
  int m, n, transpose_a, transpose_b;
  const void *a, *b;
  void* c;
  long long lda, ldb, ldc;
  VectorScalar alpha, beta;
};

}  // namespace nearwarp::cublas
