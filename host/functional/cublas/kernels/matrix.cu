// Levels 2 and 3 of BLAS with bands, packed, symmetric and triangular matrices, in f32 and f64: a thread for each
// result, and for triangular systems a thread block for each right side.
#include "host/functional/cublas/kernels/matrix_args.h"

using namespace nearwarp::cublas;

namespace {

constexpr int kThreads = 256;

template <class T>
__device__ T value_of(const VectorScalar& s) {
  return s.at == nullptr ? static_cast<T>(s.value) : *static_cast<const T*>(s.at);
}

/// Where (i, j) of the stored matrix is.
__device__ long long place_of(const PartialMatrix& a, long long i, long long j) {
  switch (a.storage) {
    case kBand: return a.above + i - j + j * a.ld;
    case kPacked: return a.upper != 0 ? i + j * (j + 1) / 2 : i + (2ll * a.rows - j - 1) * j / 2;
    default: return i + j * a.ld;
  }
}

/// Diagonals of op(a) below and above its main one.
struct Diagonals {
  long long below, above;
};
__device__ Diagonals diagonals_of(const PartialMatrix& a) {
  constexpr long long kAll = 1ll << 31;
  Diagonals d{kAll, kAll};
  if (a.storage == kBand) d = {a.below, a.above};
  if (a.shape == kSymmetric) d.below = d.above = max(d.below, d.above);
  if (a.shape == kTriangle) (a.upper != 0 ? d.below : d.above) = 0;
  if (a.transpose != 0) d = {d.above, d.below};
  return d;
}

/// Element (i, j) of op(a), which is on one of its diagonals. (Others are left out of products, not multiplied as 0:
/// 0 * infinity is not a number.)
template <class T>
__device__ T element_of(const PartialMatrix& a, const T* data, long long i, long long j) {
  if (a.shape == kTriangle && i == j && a.unit_diagonal != 0) return T(1);
  const bool turned = a.shape == kSymmetric ? (a.upper != 0 ? i > j : i < j) : a.transpose != 0;
  return data[place_of(a, turned ? j : i, turned ? i : j)];
}

template <class T>
__device__ T& at(const StridedMatrix& x, T* data, long long i, long long j) {
  return data[i * x.down + j * x.across];
}

template <class T>
__device__ void multiply(const PartialProductArgs& p) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= p.m) return;
  const T* const a = static_cast<const T*>(p.a.data);
  T *const b = static_cast<T*>(p.b.data), *const c = static_cast<T*>(p.c.data);
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  const Diagonals diagonals = diagonals_of(p.a);
  const int first = max(0ll, row - diagonals.below), end = min(static_cast<long long>(p.k), row + diagonals.above + 1);
  for (int column = blockIdx.y; column < p.n; column += gridDim.y) {
    T sum = 0;
    if (alpha != T(0))
      for (int k = first; k < end; ++k) sum += element_of<T>(p.a, a, row, k) * at(p.b, b, k, column);
    T& to = at(p.c, c, row, column);
    to = alpha * sum + (beta != T(0) ? beta * to : T(0));
  }
}

template <class T>
__device__ void update(const RankUpdateArgs& p) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= p.n) return;
  T *const a = static_cast<T*>(p.a.data), *const b = static_cast<T*>(p.b.data);
  T* const c = static_cast<T*>(const_cast<void*>(p.c.data));
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  for (int column = blockIdx.y; column < p.n; column += gridDim.y) {
    if (p.c.upper != 0 ? row > column : row < column) continue;
    T sum = 0;
    if (alpha != T(0))
      for (int k = 0; k < p.k; ++k) {
        sum += at(p.a, a, row, k) * at(p.b, b, column, k);
        if (p.both != 0) sum += at(p.b, b, row, k) * at(p.a, a, column, k);
      }
    T& to = c[place_of(p.c, row, column)];
    to = alpha * sum + (beta != T(0) ? beta * to : T(0));
  }
}

/// By substitution: what has been found is taken out of all that is left.
template <class T>
__device__ void solve(const SolveArgs& p) {
  __shared__ T found;
  const int item = blockIdx.y;
  const T* const a = static_cast<const T*>(p.a.items != nullptr ? p.a.items[item] : p.a.data);
  T* const x = static_cast<T*>(p.x.items != nullptr ? p.x.items[item] : p.x.data);
  const T alpha = value_of<T>(p.alpha);
  const Diagonals diagonals = diagonals_of(p.a);
  const bool from_below = (p.a.upper != 0) != (p.a.transpose != 0);
  for (int column = blockIdx.x; column < p.n; column += gridDim.x) {
    for (int i = threadIdx.x; i < p.m; i += kThreads) {
      T& to = at(p.x, x, i, column);
      to = alpha != T(0) ? alpha * to : T(0);
    }
    if (alpha == T(0)) continue;  // a is not looked at
    for (int n = 0; n < p.m; ++n) {
      const int i = from_below ? p.m - 1 - n : n;
      __syncthreads();
      if (threadIdx.x == 0) {
        T& to = at(p.x, x, i, column);
        if (p.a.unit_diagonal == 0) to /= element_of<T>(p.a, a, i, i);
        found = to;
      }
      __syncthreads();
      const int first = from_below ? max(0ll, i - diagonals.above) : i + 1;
      const int end = from_below ? i : min(static_cast<long long>(p.m), i + diagonals.below + 1);
      for (int r = first + threadIdx.x; r < end; r += kThreads)
        at(p.x, x, r, column) -= element_of<T>(p.a, a, r, i) * found;
    }
    __syncthreads();
  }
}

}  // namespace

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_partial_product_f32(PartialProductArgs p) { multiply<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_partial_product_f64(PartialProductArgs p) { multiply<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_rank_update_f32(RankUpdateArgs p) { update<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_rank_update_f64(RankUpdateArgs p) { update<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_solve_f32(SolveArgs p) { solve<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_solve_f64(SolveArgs p) { solve<double>(p); }
}
