// Products of sparse and dense matrices, and conversions between both.
#include "host/functional/cudalibs/kernels/cusparse_args.h"

using namespace nearwarp::cusparse;

namespace {

constexpr int kThreads = 256, kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;

/// f(i) for all of n elements.
template <class F>
__device__ void each(long long n, F&& f) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x)
    f(i);
}
template <class T>
__device__ T value_of(const Factor& f) {
  return f.at == nullptr ? static_cast<T>(f.value) : *static_cast<const T*>(f.at);
}
__device__ long long number(const void* numbers, int wide, long long i) {
  return wide ? static_cast<const long long*>(numbers)[i] : static_cast<const int*>(numbers)[i];
}
__device__ void set_number(void* numbers, int wide, long long i, long long value) {
  if (wide)
    static_cast<long long*>(numbers)[i] = value;
  else
    static_cast<int*>(numbers)[i] = (int)value;
}
__device__ long long begin_of(const Sparse& a, long long line) {
  return number(a.offsets, a.wide_offsets, line) - a.base;
}
__device__ long long index_of(const Sparse& a, long long element) {
  return number(a.indices, a.wide_indices, element) - a.base;
}
template <class T>
__device__ T& at(const Dense& d, long long row, long long column) {
  return static_cast<T*>(d.values)[row * d.row_stride + column * d.column_stride];
}

/// beta C; where beta is 0, whatever C was.
template <class T>
__device__ void scale(const ProductArgs& p) {
  const T beta = value_of<T>(p.beta);
  each(p.c.rows * p.c.columns, [&](long long i) {
    // Neighbours in memory are those of neighbouring threads.
    const bool by_rows = p.c.column_stride <= p.c.row_stride;
    const long long row = by_rows ? i / p.c.columns : i % p.c.rows;
    const long long column = by_rows ? i % p.c.columns : i / p.c.rows;
    T& c = at<T>(p.c, row, column);
    c = beta == T(0) ? T(0) : beta * c;
  });
}

/// A thread makes one element of C: a line of A times a column of B.
template <class T>
__device__ void lines(const ProductArgs& p) {
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  each(p.a.lines * p.c.columns, [&](long long i) {
    const long long line = i / p.c.columns, column = i % p.c.columns;
    T sum = 0;
    const long long end = begin_of(p.a, line + 1);
    for (long long k = begin_of(p.a, line); k < end; ++k)
      sum += static_cast<const T*>(p.a.values)[k] * at<T>(p.b, index_of(p.a, k), column);
    T& c = at<T>(p.c, line, column);
    c = alpha * sum + (beta == T(0) ? T(0) : beta * c);
  });
}
/// The same for one column: a warp makes an element, so that its line is read side by side.
template <class T>
__device__ void line_by_warps(const ProductArgs& p) {
  const T alpha = value_of<T>(p.alpha), beta = value_of<T>(p.beta);
  const int lane = threadIdx.x % kWarp;
  const long long warps = (long long)gridDim.x * (kThreads / kWarp);
  for (long long line = blockIdx.x * (long long)(kThreads / kWarp) + threadIdx.x / kWarp;
       line < p.a.lines; line += warps) {
    T sum = 0;
    const long long end = begin_of(p.a, line + 1);
    for (long long k = begin_of(p.a, line) + lane; k < end; k += kWarp)
      sum += static_cast<const T*>(p.a.values)[k] * at<T>(p.b, index_of(p.a, k), 0);
    for (int n = kWarp / 2; n != 0; n /= 2) sum += __shfl_down_sync(kAllLanes, sum, n);
    if (lane != 0) continue;
    T& c = at<T>(p.c, line, 0);
    c = alpha * sum + (beta == T(0) ? T(0) : beta * c);
  }
}
/// Elements of a line are added to many rows of C, which has been scaled.
template <class T>
__device__ void across(const ProductArgs& p) {
  const T alpha = value_of<T>(p.alpha);
  each(p.a.lines * p.c.columns, [&](long long i) {
    const long long line = i / p.c.columns, column = i % p.c.columns;
    const T b = alpha * at<T>(p.b, line, column);
    const long long end = begin_of(p.a, line + 1);
    for (long long k = begin_of(p.a, line); k < end; ++k)
      atomicAdd(&at<T>(p.c, index_of(p.a, k), column), static_cast<const T*>(p.a.values)[k] * b);
  });
}
/// The same element by element.
template <class T>
__device__ void coordinates(const ProductArgs& p) {
  const T alpha = value_of<T>(p.alpha);
  each(p.a.lines * p.c.columns, [&](long long i) {
    const long long k = i / p.c.columns, column = i % p.c.columns;
    const long long row = begin_of(p.a, k), other = index_of(p.a, k);
    const long long to = p.across ? other : row, from = p.across ? row : other;
    atomicAdd(&at<T>(p.c, to, column),
              alpha * static_cast<const T*>(p.a.values)[k] * at<T>(p.b, from, column));
  });
}

/// Into a dense matrix of zeros.
template <class T>
__device__ void to_dense(const ProductArgs& p) {
  each(p.a.lines, [&](long long line) {
    const long long first = p.a.is_coordinates ? line : begin_of(p.a, line);
    const long long end = p.a.is_coordinates ? line + 1 : begin_of(p.a, line + 1);
    const long long own = p.a.is_coordinates ? begin_of(p.a, line) : line;
    for (long long k = first; k < end; ++k) {
      const long long other = index_of(p.a, k);
      (p.across ? at<T>(p.c, other, own) : at<T>(p.c, own, other)) =
          static_cast<const T*>(p.a.values)[k];
    }
  });
}

template <class T>
__device__ T dense_at(const ConvertArgs& c, long long line, long long i) {
  return static_cast<const T*>(c.dense)[line * c.line_stride + i * c.step];
}
/// How many elements of each line are not 0, at its number and one more.
template <class T>
__device__ void count(const ConvertArgs& c) {
  each(c.lines, [&](long long line) {
    long long n = 0;
    for (long long i = 0; i < c.length; ++i) n += dense_at<T>(c, line, i) != T(0);
    c.counts[line + 1] = n;
  });
}
/// Where lines begin; one thread block.
__device__ void add_up(const ConvertArgs& c) {
  __shared__ long long sums[kThreads];
  const int t = threadIdx.x;
  const long long share = (c.lines + kThreads - 1) / kThreads;
  const long long first = share * t < c.lines ? share * t : c.lines;
  const long long end = first + share < c.lines ? first + share : c.lines;
  long long sum = 0;
  for (long long i = first; i < end; ++i) sum += c.counts[i + 1];
  sums[t] = sum;
  __syncthreads();
  long long before = 0;
  for (int i = 0; i < t; ++i) before += sums[i];
  if (t == 0) c.counts[0] = 0;
  for (long long i = first; i < end; ++i) {
    before += c.counts[i + 1];
    c.counts[i + 1] = before;
  }
}
template <class T>
__device__ void from_dense(const ConvertArgs& c) {
  const Sparse& a = c.sparse;
  each(c.lines, [&](long long line) {
    long long k = c.counts[line];
    if (!a.is_coordinates) {
      set_number(a.offsets, a.wide_offsets, line, k + a.base);
      if (line + 1 == c.lines) set_number(a.offsets, a.wide_offsets, c.lines, c.counts[c.lines] + a.base);
    }
    for (long long i = 0; i < c.length; ++i) {
      const T value = dense_at<T>(c, line, i);
      if (value == T(0)) continue;
      if (a.is_coordinates) set_number(a.offsets, a.wide_offsets, k, line + a.base);
      set_number(a.indices, a.wide_indices, k, i + a.base);
      static_cast<T*>(a.values)[k++] = value;
    }
  });
}

}  // namespace

#define NW_KERNELS(T, suffix)                                                                  \
  extern "C" __global__ void cusparse_scale_##suffix(ProductArgs p) { scale<T>(p); }           \
  extern "C" __global__ void cusparse_lines_##suffix(ProductArgs p) { lines<T>(p); }           \
  extern "C" __global__ void cusparse_line_by_warps_##suffix(ProductArgs p) { line_by_warps<T>(p); } \
  extern "C" __global__ void cusparse_across_##suffix(ProductArgs p) { across<T>(p); }         \
  extern "C" __global__ void cusparse_coordinates_##suffix(ProductArgs p) { coordinates<T>(p); } \
  extern "C" __global__ void cusparse_to_dense_##suffix(ProductArgs p) { to_dense<T>(p); }     \
  extern "C" __global__ void cusparse_count_##suffix(ConvertArgs c) { count<T>(c); }           \
  extern "C" __global__ void cusparse_from_dense_##suffix(ConvertArgs c) { from_dense<T>(c); }
NW_KERNELS(float, f32)
NW_KERNELS(double, f64)
extern "C" __global__ void cusparse_add_up(ConvertArgs c) { add_up(c); }
