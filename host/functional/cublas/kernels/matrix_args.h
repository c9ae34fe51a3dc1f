// Parameters of the kernels of levels 2 and 3 that work with bands, packed, symmetric and
// triangular matrices; the host fills them in (matrix.cpp).
#pragma once

#include "host/functional/cublas/kernels/vector_args.h"

namespace nearwarp::cublas {

/// Which elements of a stored matrix count.
enum Shape : int { kWhole, kSymmetric, kTriangle };
/// Where they are.
enum Storage : int { kDense, kBand, kPacked };

/// A matrix, column-major, of which a part may be stored: op(it) is read.
struct PartialMatrix {
  const void* data;
  const void* const* items;  ///< not null: where each item of a batch is
  long long ld;              ///< in elements; not of packed ones
  int rows;                  ///< and columns, of packed ones
  int storage, shape;        ///< Storage, Shape
  int upper;                 ///< of symmetric and triangular ones: the part that is stored
  int unit_diagonal;         ///< of triangular ones: 1, and not read
  int below, above;          ///< of bands: diagonals
  int transpose;
};

/// A matrix of which all is stored: element (i, j) at i * down + j * across, in elements.
struct StridedMatrix {
  void* data;
  void* const* items;  ///< not null: where each item of a batch is
  long long down, across;
};

/// c[m, n] = alpha * op(a)[m, k] * b[k, n] + beta * c
struct PartialProductArgs {
  int m, n, k, reserved;
  PartialMatrix a;
  StridedMatrix b, c;
  VectorScalar alpha, beta;
};

/// The triangle of c[n, n] that is stored = alpha * (a b^T + b a^T, where `both`) + beta * c, a and
/// b [n, k].
struct RankUpdateArgs {
  int n, k, both, reserved;
  StridedMatrix a, b;
  PartialMatrix c;
  VectorScalar alpha, beta;
};

/// x[m, n] = alpha * op(a)^-1 * x, for each item of a batch; `a` is triangular.
struct SolveArgs {
  int m, n;
  PartialMatrix a;
  StridedMatrix x;
  VectorScalar alpha;
};

}  // namespace nearwarp::cublas
