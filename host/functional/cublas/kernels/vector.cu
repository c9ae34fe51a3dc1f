// Levels 1 and 2 of BLAS, and what goes over matrices element by element, in f32 and f64.
#include "host/functional/cublas/kernels/vector_args.h"

using namespace nearwarp::cublas;

namespace {

constexpr int kThreads = 256;

template <class T>
__device__ T value_of(const VectorScalar& s) {
  return s.at == nullptr ? static_cast<T>(s.value) : *static_cast<const T*>(s.at);
}
/// Element i of n; with a negative increment vectors are taken from their end.
template <class T>
__device__ T& element(const void* x, long long n, long long i, long long increment) {
  const long long at = increment >= 0 ? i * increment : (i - n + 1) * increment;
  return static_cast<T*>(const_cast<void*>(x))[at];
}

/// f(i) for all elements.
template <class F>
__device__ void each(long long n, F&& f) {
  for (long long i = blockIdx.x * (long long)kThreads + threadIdx.x; i < n;
       i += (long long)gridDim.x * kThreads)
    f(i);
}

/// Sums of a thread block's threads, in a fixed order; of use to thread 0.
template <class T>
__device__ T sum_of_block(T x) {
  __shared__ T sums[kThreads];
  sums[threadIdx.x] = x;
  __syncthreads();
  for (int n = kThreads / 2; n != 0; n /= 2) {
    if (threadIdx.x < n) sums[threadIdx.x] += sums[threadIdx.x + n];
    __syncthreads();
  }
  return sums[0];
}

/// One thread block: sums of products, of magnitudes, or of squares.
template <class T>
__device__ void reduce(const VectorArgs& p) {
  T sum = 0;
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const T x = element<T>(p.x, p.n, i, p.x_increment);
    if (p.operation == kDot) sum += x * element<T>(p.y, p.n, i, p.y_increment);
    if (p.operation == kMagnitudes) sum += x < 0 ? -x : x;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *static_cast<T*>(p.result) = sum;
}
/// The length of a vector: scaled by its largest element, so that squares neither overflow nor
/// vanish.
template <class T>
__device__ void length(const VectorArgs& p) {
  __shared__ T most[kThreads];
  T largest = 0;
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const T x = element<T>(p.x, p.n, i, p.x_increment), size = x < 0 ? -x : x;
    if (size > largest || size != size) largest = size;
  }
  most[threadIdx.x] = largest;
  __syncthreads();
  for (int n = kThreads / 2; n != 0; n /= 2) {
    if (threadIdx.x < n) {
      const T other = most[threadIdx.x + n];
      if (other > most[threadIdx.x] || other != other) most[threadIdx.x] = other;
    }
    __syncthreads();
  }
  const T scale = most[0];
  __syncthreads();
  const bool is_scaled = scale > 0 && !isinf(scale);  // else the length is 0, infinite or NaN as it is
  T sum = 0;
  if (is_scaled)
    for (long long i = threadIdx.x; i < p.n; i += kThreads) {
      const T x = element<T>(p.x, p.n, i, p.x_increment) / scale;
      sum += x * x;
    }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *static_cast<T*>(p.result) = is_scaled ? scale * sqrt(sum) : scale;
}
/// The first element of the largest or least magnitude, counted from 1; 0: there is none. What is no number is the
/// answer if it stands first, else it is skipped, as where elements are compared one after another.
template <class T>
__device__ void index_of(const VectorArgs& p) {
  __shared__ T values[kThreads];
  __shared__ long long places[kThreads];
  T best = 0;
  long long place = -1;
  for (long long i = threadIdx.x; i < p.n; i += kThreads) {
    const T x = element<T>(p.x, p.n, i, p.x_increment), size = x < 0 ? -x : x;
    const bool better = place < 0 || (p.operation == kLargest ? size > best : size < best);
    if (better && size == size) best = size, place = i;
  }
  values[threadIdx.x] = best;
  places[threadIdx.x] = place;
  __syncthreads();
  for (int n = kThreads / 2; n != 0; n /= 2) {
    if (threadIdx.x < n && places[threadIdx.x + n] >= 0) {
      const T other = values[threadIdx.x + n], own = values[threadIdx.x];
      const bool better = p.operation == kLargest ? other > own : other < own;
      if (places[threadIdx.x] < 0 || better ||
          (other == own && places[threadIdx.x + n] < places[threadIdx.x])) {
        values[threadIdx.x] = other;
        places[threadIdx.x] = places[threadIdx.x + n];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const T first = p.n > 0 ? element<T>(p.x, p.n, 0, p.x_increment) : T(0);
    const long long found = first != first ? 1 : places[0] + 1;
    if (p.wide_result != 0)
      *static_cast<long long*>(p.result) = found;
    else
      *static_cast<int*>(p.result) = static_cast<int>(found);
  }
}

template <class T>
__device__ void elements(const VectorArgs& p) {
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  if (p.operation == kAxpy && alpha == T(0)) return;  // x is not looked at
  each(p.n, [&](long long i) {
    T& x = element<T>(p.x, p.n, i, p.x_increment);
    T* const y = p.y == nullptr ? nullptr : &element<T>(p.y, p.n, i, p.y_increment);
    const T old = x;
    switch (p.operation) {
      case kAxpy: *y += alpha * x; break;
      case kScale: x *= alpha; break;
      case kCopy: *y = x; break;
      case kSwap: x = *y, *y = old; break;
      case kRotate: x = alpha * old + beta * *y, *y = alpha * *y - beta * old; break;
      default: break;
    }
  });
}

/// y = alpha op(A) x + beta y: a warp for each row.
template <class T>
__device__ void matrix_vector(const MatrixVectorArgs& p) {
  const int item = blockIdx.y;
  const T* const a = static_cast<const T*>(p.a) + item * p.a_stride;
  const T* const x = static_cast<const T*>(p.x) + item * p.x_stride;
  T* const y = static_cast<T*>(p.y) + item * p.y_stride;
  const int rows = p.transpose != 0 ? p.n : p.m, columns = p.transpose != 0 ? p.m : p.n;
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  const int end = alpha != T(0) ? columns : 0;  // of what is looked at
  if (p.transpose != 0) {  // lanes along a column
    const int row = blockIdx.x * (kThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    T sum = 0;
    for (int j = lane; j < end; j += 32)
      sum += a[row * p.lda + j] * element<T>(x, columns, j, p.x_increment);
    for (int n = 16; n != 0; n /= 2) sum += __shfl_down_sync(0xffffffffu, sum, n);
    if (lane != 0) return;
    T& to = element<T>(y, rows, row, p.y_increment);
    to = alpha * sum + (beta != T(0) ? beta * to : T(0));
    return;
  }
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (int j = 0; j < end; ++j)
    sum += a[row + j * p.lda] * element<T>(x, columns, j, p.x_increment);
  T& to = element<T>(y, rows, row, p.y_increment);
  to = alpha * sum + (beta != T(0) ? beta * to : T(0));
}

/// A += alpha x y^T
template <class T>
__device__ void outer(const MatrixVectorArgs& p) {
  const int row = blockIdx.x * kThreads + threadIdx.x, column = blockIdx.y;
  const T alpha = value_of<T>(p.alpha);
  if (row >= p.m || alpha == T(0)) return;
  T* const a = static_cast<T*>(const_cast<void*>(p.a));
  a[row + column * p.lda] += alpha * element<T>(p.x, p.m, row, p.x_increment) *
                             element<T>(p.y, p.n, column, p.y_increment);
}

/// C = alpha op(A) + beta op(B)
template <class T>
__device__ void add(const AddArgs& p) {
  const int row = blockIdx.x * kThreads + threadIdx.x, column = blockIdx.y;
  if (row >= p.m) return;
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  T sum = 0;
  if (alpha != T(0))
    sum += alpha * static_cast<const T*>(
                       p.a)[p.transpose_a != 0 ? column + row * p.lda : row + column * p.lda];
  if (beta != T(0))
    sum += beta * static_cast<const T*>(
                      p.b)[p.transpose_b != 0 ? column + row * p.ldb : row + column * p.ldb];
  static_cast<T*>(p.c)[row + column * p.ldc] = sum;
}

}  // namespace

extern "C" {
__global__ void __launch_bounds__(kThreads) cublas_elements_f32(VectorArgs p) { elements<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_elements_f64(VectorArgs p) { elements<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_reduce_f32(VectorArgs p) { reduce<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_reduce_f64(VectorArgs p) { reduce<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_nrm2_f32(VectorArgs p) { length<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_nrm2_f64(VectorArgs p) { length<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_index_f32(VectorArgs p) { index_of<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_index_f64(VectorArgs p) { index_of<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemv_f32(MatrixVectorArgs p) { matrix_vector<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_gemv_f64(MatrixVectorArgs p) { matrix_vector<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_ger_f32(MatrixVectorArgs p) { outer<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_ger_f64(MatrixVectorArgs p) { outer<double>(p); }
__global__ void __launch_bounds__(kThreads) cublas_geam_f32(AddArgs p) { add<float>(p); }
__global__ void __launch_bounds__(kThreads) cublas_geam_f64(AddArgs p) { add<double>(p); }
}
