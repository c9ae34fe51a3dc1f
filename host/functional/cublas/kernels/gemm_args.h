// Parameters of the GEMM kernels; the host fills them in (gemm.cpp).
#pragma once

namespace nearwarp::cublas {

/// alpha or beta: a value, or where it is on the device.
struct Scalar {
  double value;
  const void* at;  ///< null: `value`
  int is_half;     ///< of `at`: an f16; otherwise of the type that sums have
  int reserved;
};

/// Steps between a sum and its store, as bits.
enum Epilogue : int {
  kBias = 1,           ///< + bias[row]
  kRelu = 2,           ///< max(x, 0)
  kGelu = 4,           ///< its approximation by a hyperbolic tangent
  kStoreAux = 8,       ///< what goes into kGelu is stored (for kRelu a bit for each element)
  kGeluGradient = 16,  ///< x times the derivative of GELU at aux
  kReluGradient = 32,  ///< x where the bit of aux is set, else 0
};

/// A matrix of a batch, column-major: column c of item i begins at data + i * stride + c * ld.
struct Matrix {
  const void* data;
  const void* const* items;  ///< not null: where each item of the batch is
  long long ld, stride;      ///< in elements
};

/// d[m, n] = epilogue(alpha * op(a)[m, k] * op(b)[k, n] + beta * c[m, n]), for each item.
struct GemmArgs {
  int m, n, k;
  int transpose_a, transpose_b;
  int epilogue;  ///< Epilogue
  Matrix a, b, c, d;
  Scalar alpha, beta;
  const void* bias;
  void* aux;
  long long bias_stride, aux_ld, aux_stride;
};

}  // namespace nearwarp::cublas
