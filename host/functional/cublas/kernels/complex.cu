// BLAS of complex numbers: products of matrices by multiply-add, with tiles of 32 x 32, and what of levels 1 and 2 is
// there.
#include "host/functional/cublas/kernels/complex_args.h"
#include "host/functional/cudalibs/kernels/complex.cuh"

using namespace nearwarp::cublas;
using nearwarp::cudalibs::Complex;
using nearwarp::cudalibs::conjugate;

namespace {

constexpr int kTile = 32, kDepth = 16, kThreads = 256;

template <class T>
__device__ Complex<T> value_of(const ComplexScalar& s) {
  if (s.at == nullptr) return {static_cast<T>(s.re), static_cast<T>(s.im)};
  return s.is_real != 0 ? Complex<T>(*static_cast<const T*>(s.at))
                        : *static_cast<const Complex<T>*>(s.at);
}
template <class T>
__device__ Complex<T> result(Complex<T> sum, Complex<T> beta, const Complex<T>& before) {
  return beta == Complex<T>(0) ? sum : sum + beta * before;
}
/// Element i of n; with a negative increment vectors are taken from their end.
template <class T>
__device__ Complex<T>& element(const void* x, long long n, long long i, long long increment) {
  const long long at = increment >= 0 ? i * increment : (i - n + 1) * increment;
  return static_cast<Complex<T>*>(const_cast<void*>(x))[at];
}
/// Element (row, column) of op(A).
template <class T>
__device__ Complex<T> operated(const void* a, long long lda, int operation, long long row, long long column) {
  const auto* const from = static_cast<const Complex<T>*>(a);
  return operation == 0 ? from[row + column * lda] : conjugate(from[column + row * lda], operation == 2);
}

// --- Matrices ------------------------------------------------------------------------------------

template <class T>
__device__ const void* item_of(const Matrix& x, int item) {
  return x.items != nullptr ? x.items[item] : static_cast<const Complex<T>*>(x.data) + item * x.stride;
}

/// 256 threads, each with 2 x 2 sums, 16 apart in rows and columns.
template <class T>
__device__ void multiply(const ComplexGemmArgs& p) {
  using C = Complex<T>;
  __shared__ C a[kDepth][kTile + 1], b[kDepth][kTile + 1];
  const int item = blockIdx.z, first_row = blockIdx.x * kTile, first_column = p.first_column + blockIdx.y * kTile;
  const void *const from_a = item_of<T>(p.a, item), *const from_b = item_of<T>(p.b, item);
  const int row = threadIdx.x % 16, column = threadIdx.x / 16;
  const C alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  const int depth = alpha == C(0) ? 0 : p.k;  // then A and B are not read
  C sum[2][2] = {{0, 0}, {0, 0}};
  for (int k = 0; k < depth; k += kDepth) {
    for (int n = threadIdx.x; n < kTile * kDepth; n += kThreads) {
      // Threads that stand together read what stands together.
      const int x_a = p.operation_a != 0 ? n % kDepth : n / kTile, i_a = p.operation_a != 0 ? n / kDepth : n % kTile;
      const bool there_a = first_row + i_a < p.m && k + x_a < p.k;
      a[x_a][i_a] = there_a ? operated<T>(from_a, p.a.ld, p.operation_a, first_row + i_a, k + x_a) : C(0);
      const int x_b = p.operation_b == 0 ? n % kDepth : n / kTile, i_b = p.operation_b == 0 ? n / kDepth : n % kTile;
      const bool there_b = first_column + i_b < p.n && k + x_b < p.k;
      b[x_b][i_b] = there_b ? operated<T>(from_b, p.b.ld, p.operation_b, k + x_b, first_column + i_b) : C(0);
    }
    __syncthreads();
#pragma unroll
    for (int x = 0; x < kDepth; ++x)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) sum[i][j] = sum[i][j] + a[x][row + 16 * i] * b[x][column + 16 * j];
    __syncthreads();
  }
  auto* const to = static_cast<C*>(const_cast<void*>(item_of<T>(p.c, item)));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const int r = first_row + row + 16 * i, c = first_column + column + 16 * j;
      if (r >= p.m || c >= p.n) continue;
      C& at = to[r + c * p.c.ld];
      at = result(alpha * sum[i][j], beta, at);
    }
}

template <class T>
__device__ void add(const ComplexAddArgs& p) {
  const int row = blockIdx.x * kThreads + threadIdx.x, column = blockIdx.y;
  if (row >= p.m) return;
  const Complex<T> alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta), none(0);
  Complex<T> sum = none;
  if (!(alpha == none)) sum = alpha * operated<T>(p.a, p.lda, p.operation_a, row, column);
  if (!(beta == none)) sum = sum + beta * operated<T>(p.b, p.ldb, p.operation_b, row, column);
  static_cast<Complex<T>*>(p.c)[row + column * p.ldc] = sum;
}

/// A thread for each row of op(A); transposed a warp, whose lanes go along a column.
template <class T>
__device__ void matrix_vector(const ComplexMatrixVectorArgs& p) {
  using C = Complex<T>;
  const int item = blockIdx.y;
  const void* const a = static_cast<const C*>(p.a) + item * p.a_stride;
  const void* const x = static_cast<const C*>(p.x) + item * p.x_stride;
  C* const y = static_cast<C*>(p.y) + item * p.y_stride;
  const bool turned = p.operation != 0;
  const int rows = turned ? p.n : p.m, columns = turned ? p.m : p.n, lanes = turned ? 32 : 1;
  const int row = blockIdx.x * (kThreads / lanes) + threadIdx.x / lanes, lane = threadIdx.x % lanes;
  if (row >= rows) return;
  const C alpha = value_of<T>(p.alpha);
  C sum = 0;
  for (int j = lane; j < (alpha == C(0) ? 0 : columns); j += lanes)
    sum = sum + operated<T>(a, p.lda, p.operation, row, j) * element<T>(x, columns, j, p.x_increment);
  if (turned)
    for (int n = 16; n != 0; n /= 2)
      sum = sum + C(__shfl_down_sync(~0u, sum.re, n), __shfl_down_sync(~0u, sum.im, n));
  if (lane != 0) return;
  C& to = element<T>(y, rows, row, p.y_increment);
  to = result(alpha * sum, value_of<T>(p.beta), to);
}

template <class T>
__device__ void outer(const ComplexMatrixVectorArgs& p) {
  const int row = blockIdx.x * kThreads + threadIdx.x, column = blockIdx.y;
  const Complex<T> alpha = value_of<T>(p.alpha);
  if (row >= p.m || alpha == Complex<T>(0)) return;
  Complex<T>& to = static_cast<Complex<T>*>(const_cast<void*>(p.a))[row + column * p.lda];
  to = to + alpha * element<T>(p.x, p.m, row, p.x_increment) *
                conjugate(element<T>(p.y, p.n, column, p.y_increment), p.operation == 2);
}

// --- Vectors -------------------------------------------------------------------------------------

template <class T>
__device__ void elements(const ComplexVectorArgs& p) {
  const Complex<T> alpha = value_of<T>(p.alpha);
  for (long long i = blockIdx.x * (long long)kThreads + threadIdx.x; i < p.n; i += (long long)gridDim.x * kThreads) {
    Complex<T>& x = element<T>(p.x, p.n, i, p.x_increment);
    if (p.operation == kComplexScale) {
      // Times a real number each part stays by itself: an infinite one does not make the other NaN.
      x = p.alpha.is_real != 0 ? Complex<T>(alpha.re * x.re, alpha.re * x.im) : alpha * x;
      continue;
    }
    Complex<T>& y = element<T>(p.y, p.n, i, p.y_increment);
    const Complex<T> old = x;
    if (p.operation == kComplexAxpy && !(alpha == Complex<T>(0))) y = y + alpha * x;
    if (p.operation == kComplexSwap) x = y;
    if (p.operation == kComplexSwap || p.operation == kComplexCopy) y = old;
  }
}

template <class T>
__device__ T magnitude(T x) {
  return x < 0 ? -x : x;
}
template <class T>
__device__ T magnitudes(Complex<T> x) {
  return magnitude(x.re) + magnitude(x.im);
}

/// One thread block: what threads have found, by f(own, other), in a fixed order.
template <class V, class F>
__device__ V of_block(V own, F&& f) {
  __shared__ V all[kThreads];
  all[threadIdx.x] = own;
  __syncthreads();
  for (int n = kThreads / 2; n != 0; n /= 2) {
    if (threadIdx.x < n) all[threadIdx.x] = f(all[threadIdx.x], all[threadIdx.x + n]);
    __syncthreads();
  }
  const V found = all[0];
  __syncthreads();
  return found;
}

/// Sums of products, or of magnitudes.
template <class T>
__device__ void reduce(const ComplexVectorArgs& p) {
  Complex<T> sum = 0;
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const Complex<T> x = element<T>(p.x, p.n, i, p.x_increment);
    sum = sum + (p.operation == kComplexMagnitudes
                     ? Complex<T>(magnitudes(x))
                     : conjugate(x, p.operation == kComplexConjugateDot) * element<T>(p.y, p.n, i, p.y_increment));
  }
  sum = of_block(sum, [](Complex<T> a, Complex<T> b) { return a + b; });
  if (threadIdx.x != 0) return;
  if (p.operation == kComplexMagnitudes)
    *static_cast<T*>(p.result) = sum.re;
  else
    *static_cast<Complex<T>*>(p.result) = sum;
}
/// The length of a vector: scaled by its largest part, so that squares neither overflow nor vanish.
template <class T>
__device__ void length(const ComplexVectorArgs& p) {
  const auto larger = [](T a, T b) { return b > a || b != b ? b : a; };
  T most = 0;
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const Complex<T> x = element<T>(p.x, p.n, i, p.x_increment);
    most = larger(larger(most, magnitude(x.re)), magnitude(x.im));
  }
  const T scale = of_block(most, larger);
  const bool is_scaled = scale > 0 && !isinf(scale);  // else the length is 0, infinite or NaN as it is
  T sum = 0;
  if (is_scaled)
    for (long long i = threadIdx.x; i < p.n; i += kThreads) {
      const Complex<T> x = element<T>(p.x, p.n, i, p.x_increment);
      sum += x.re / scale * (x.re / scale) + x.im / scale * (x.im / scale);
    }
  sum = of_block(sum, [](T a, T b) { return a + b; });
  if (threadIdx.x == 0) *static_cast<T*>(p.result) = is_scaled ? scale * sqrt(sum) : scale;
}

template <class T>
struct Best {
  T value;
  long long place;  ///< from 1 on; 0: none
};
/// The first element whose parts' magnitudes are largest or least together, counted from 1; 0: there is none. What is
/// no number is the answer if it stands first, else it is skipped, as where elements are compared one after another.
template <class T>
__device__ void index_of(const ComplexVectorArgs& p) {
  const bool largest = p.operation == kComplexLargest;
  const auto better = [=](Best<T> a, Best<T> b) {
    if (a.place == 0 || b.place == 0) return a.place == 0 ? b : a;
    if (a.value == b.value) return b.place < a.place ? b : a;
    return (largest ? b.value > a.value : b.value < a.value) ? b : a;
  };
  Best<T> best = {0, 0};
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const T size = magnitudes(element<T>(p.x, p.n, i, p.x_increment));
    if (size == size) best = better(best, {size, i + 1});
  }
  best = of_block(best, better);
  if (threadIdx.x != 0) return;
  const T first = p.n > 0 ? magnitudes(element<T>(p.x, p.n, 0, p.x_increment)) : T(0);
  if (first != first) best.place = 1;
  if (p.wide_result != 0)
    *static_cast<long long*>(p.result) = best.place;
  else
    *static_cast<int*>(p.result) = static_cast<int>(best.place);
}

}  // namespace

#define NW_KERNELS(T, suffix)                                                                                         \
  extern "C" __global__ void __launch_bounds__(kThreads) cublas_complex_gemm_##suffix(ComplexGemmArgs p) { multiply<T>(p); } \
  extern "C" __global__ void cublas_complex_geam_##suffix(ComplexAddArgs p) { add<T>(p); }                            \
  extern "C" __global__ void cublas_complex_gemv_##suffix(ComplexMatrixVectorArgs p) { matrix_vector<T>(p); }         \
  extern "C" __global__ void cublas_complex_ger_##suffix(ComplexMatrixVectorArgs p) { outer<T>(p); }                  \
  extern "C" __global__ void cublas_complex_elements_##suffix(ComplexVectorArgs p) { elements<T>(p); }                \
  extern "C" __global__ void cublas_complex_reduce_##suffix(ComplexVectorArgs p) { reduce<T>(p); }                    \
  extern "C" __global__ void cublas_complex_nrm2_##suffix(ComplexVectorArgs p) { length<T>(p); }                      \
  extern "C" __global__ void cublas_complex_index_##suffix(ComplexVectorArgs p) { index_of<T>(p); }
NW_KERNELS(float, c32)
NW_KERNELS(double, c64)
