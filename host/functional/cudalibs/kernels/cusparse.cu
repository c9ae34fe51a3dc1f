// Products of sparse and dense matrices, and conversions between both.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "host/functional/cudalibs/kernels/complex.cuh"
#include "host/functional/cudalibs/kernels/cusparse_args.h"

using namespace nearwarp::cusparse;
using nearwarp::cudalibs::Complex;
using nearwarp::cudalibs::conjugate;

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
/// The type that sums of a type's products are made in.
template <class T>
struct SumOf {
  using Type = T;
};
template <>
struct SumOf<__half> {
  using Type = float;
};
template <>
struct SumOf<__nv_bfloat16> {
  using Type = float;
};
template <class T>
using Sum = typename SumOf<T>::Type;

template <class T>
__device__ T conjugate(T x, bool) {
  return x;
}
template <class T>
__device__ void add_to(T* to, T value) {
  atomicAdd(to, value);
}
template <class T>
__device__ void add_to(Complex<T>* to, Complex<T> value) {
  atomicAdd(&to->re, value.re);
  atomicAdd(&to->im, value.im);
}
template <class T>
__device__ T number_of(const Factor& f, T*) {
  return static_cast<T>(f.value);
}
template <class T>
__device__ Complex<T> number_of(const Factor& f, Complex<T>*) {
  return {static_cast<T>(f.value), static_cast<T>(f.imaginary)};
}
template <class T>
__device__ T value_of(const Factor& f) {
  return f.at == nullptr ? number_of(f, (T*)nullptr) : *static_cast<const T*>(f.at);
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

template <class T>
__device__ T result(T alpha_sum, T beta, T before) {
  return beta == T(0) ? alpha_sum : alpha_sum + beta * before;
}

/// How many elements a row has, padding among them.
__device__ long long row_length(const Sparse& a, long long row) {
  if (a.places == kBlockRows) return a.length;
  const long long line = a.places == kLines ? row : row / a.height;
  const long long entries = begin_of(a, line + 1) - begin_of(a, line);
  return a.places == kLines ? entries : a.places == kBlocks ? entries * a.width : entries / a.height;
}
/// The column of element j of a row, below 0 if it is padding, and where its value is.
__device__ long long row_element(const Sparse& a, long long row, long long j, long long* value) {
  if (a.places == kBlockRows) {
    *value = row * a.length + j;
    const long long block = index_of(a, row / a.height * (a.length / a.height) + j / a.height);
    return block < 0 ? block : block * a.height + j % a.height;
  }
  const long long first = begin_of(a, a.places == kLines ? row : row / a.height);
  if (a.places == kLines) {
    *value = first + j;
    return index_of(a, first + j);
  }
  const long long r = row % a.height;
  if (a.places == kSlices) {
    *value = first + j * a.height + r;
    return index_of(a, *value);
  }
  const long long block = first + j / a.width, c = j % a.width;
  *value = block * a.height * a.width + (a.by_columns ? c * a.height + r : r * a.width + c);
  return index_of(a, block) * a.width + c;
}

/// The sum of every `step`th element of a row from `begin` on times a column of B.
template <class In, class S>
__device__ S row_sum(const ProductArgs& p, long long row, long long column, int begin, int step) {
  S sum = 0;
  const auto* const values = static_cast<const In*>(p.a.values);
  const auto add = [&](long long k, long long from) {
    sum = sum + conjugate(S(values[k]), p.conjugate_a) *
                    conjugate(S(at<In>(p.b, from, column)), p.conjugate_b);
  };
  if (p.a.places == kLines) {
    const long long end = begin_of(p.a, row + 1);
    for (long long k = begin_of(p.a, row) + begin; k < end; k += step) add(k, index_of(p.a, k));
    return sum;
  }
  const long long length = row_length(p.a, row);
#pragma unroll 1
  for (long long j = begin; j < length; j += step) {
    long long k;
    const long long from = row_element(p.a, row, j, &k);
    if (from >= 0) add(k, from);
  }
  return sum;
}

/// beta C; where beta is 0, whatever C was.
template <class Out>
__device__ void scale(const ProductArgs& p) {
  using S = Sum<Out>;
  const S beta = value_of<S>(p.beta);
  each(p.c.rows * p.c.columns, [&](long long i) {
    // Neighbours in memory are those of neighbouring threads.
    const bool by_rows = p.c.column_stride <= p.c.row_stride;
    const long long row = by_rows ? i / p.c.columns : i % p.c.rows;
    const long long column = by_rows ? i % p.c.columns : i / p.c.rows;
    Out& c = at<Out>(p.c, row, column);
    c = Out(result(S(0), beta, S(c)));
  });
}
/// B, a product whose sums were made in a wider type, + beta C.
template <class Out>
__device__ void round_off(const ProductArgs& p) {
  using S = Sum<Out>;
  const S beta = value_of<S>(p.beta);
  each(p.c.rows * p.c.columns, [&](long long i) {
    const long long row = i / p.c.columns, column = i % p.c.columns;
    Out& c = at<Out>(p.c, row, column);
    c = Out(result(at<S>(p.b, row, column), beta, S(c)));
  });
}

/// A thread makes one element of C: a line of A times a column of B.
template <class In, class Out>
__device__ void lines(const ProductArgs& p) {
  using S = Sum<Out>;
  const S alpha = value_of<S>(p.alpha), beta = value_of<S>(p.beta);
  each(p.a.lines * p.c.columns, [&](long long i) {
    const long long line = i / p.c.columns, column = i % p.c.columns;
    Out& c = at<Out>(p.c, line, column);
    c = Out(result(alpha * row_sum<In, S>(p, line, column, 0, 1), beta, S(c)));
  });
}
template <class T>
__device__ T from_lane(T value, int away) {
  return __shfl_down_sync(kAllLanes, value, away);
}
template <class T>
__device__ Complex<T> from_lane(Complex<T> value, int away) {
  return {from_lane(value.re, away), from_lane(value.im, away)};
}
/// A warp makes one element of C, which has one column, so that its line is read side by side.
template <class In, class Out>
__device__ void line_by_warps(const ProductArgs& p) {
  using S = Sum<Out>;
  const S alpha = value_of<S>(p.alpha), beta = value_of<S>(p.beta);
  const int lane = threadIdx.x % kWarp;
  const long long warps = (long long)gridDim.x * (kThreads / kWarp);
  for (long long line = blockIdx.x * (long long)(kThreads / kWarp) + threadIdx.x / kWarp;
       line < p.a.lines; line += warps) {
    S sum = row_sum<In, S>(p, line, 0, lane, kWarp);
    for (int n = kWarp / 2; n != 0; n /= 2) sum = sum + from_lane(sum, n);
    if (lane != 0) continue;
    Out& c = at<Out>(p.c, line, 0);
    c = Out(result(alpha * sum, beta, S(c)));
  }
}
/// Elements of a line are added to many rows of C, which has been scaled.
template <class In, class S>
__device__ void across(const ProductArgs& p) {
  const S alpha = value_of<S>(p.alpha);
  each(p.a.lines * p.c.columns, [&](long long i) {
    const long long line = i / p.c.columns, column = i % p.c.columns;
    const S b = alpha * conjugate(S(at<In>(p.b, line, column)), p.conjugate_b);
    const long long end = begin_of(p.a, line + 1);
#pragma unroll 1
    for (long long k = begin_of(p.a, line); k < end; ++k)
      add_to(&at<S>(p.c, index_of(p.a, k), column),
             conjugate(S(static_cast<const In*>(p.a.values)[k]), p.conjugate_a) * b);
  });
}
/// Each element of A, which lies by its coordinates, is added by itself.
template <class In, class S>
__device__ void coordinates(const ProductArgs& p) {
  const S alpha = value_of<S>(p.alpha);
  each(p.a.lines * p.c.columns, [&](long long i) {
    const long long k = i / p.c.columns, column = i % p.c.columns;
    const long long row = begin_of(p.a, k), other = index_of(p.a, k);
    const long long to = p.across ? other : row, from = p.across ? row : other;
    add_to(&at<S>(p.c, to, column),
           alpha * conjugate(S(static_cast<const In*>(p.a.values)[k]), p.conjugate_a) *
               conjugate(S(at<In>(p.b, from, column)), p.conjugate_b));
  });
}

/// Into a dense matrix of zeros.
template <class T>
__device__ void to_dense(const ProductArgs& p) {
  each(p.a.lines, [&](long long line) {
    const long long first = (p.a.places == kCoordinates) ? line : begin_of(p.a, line);
    const long long end = (p.a.places == kCoordinates) ? line + 1 : begin_of(p.a, line + 1);
    const long long own = (p.a.places == kCoordinates) ? begin_of(p.a, line) : line;
#pragma unroll 1
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
#pragma unroll 1
    for (long long i = 0; i < c.length; ++i) n += !(dense_at<T>(c, line, i) == T(0));
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
    if (a.places != kCoordinates) {
      set_number(a.offsets, a.wide_offsets, line, k + a.base);
      if (line + 1 == c.lines) set_number(a.offsets, a.wide_offsets, c.lines, c.counts[c.lines] + a.base);
    }
#pragma unroll 1
    for (long long i = 0; i < c.length; ++i) {
      const T value = dense_at<T>(c, line, i);
      if (value == T(0)) continue;
      if (a.places == kCoordinates) set_number(a.offsets, a.wide_offsets, k, line + a.base);
      set_number(a.indices, a.wide_indices, k, i + a.base);
      static_cast<T*>(a.values)[k++] = value;
    }
  });
}

/// Where each row begins, of elements in the order of their rows.
__device__ void row_offsets(const RowsArgs& r) {
  each(r.num_rows + 1, [&](long long row) {
    int first = 0, end = r.num_elements;  // the first element of this row or a later one
    while (first < end) {
      const int middle = first + (end - first) / 2;
      if (r.rows[middle] - r.base < row)
        first = middle + 1;
      else
        end = middle;
    }
    r.offsets[row] = first + r.base;
  });
}
__device__ void rows_of(const RowsArgs& r) {
  each(r.num_rows, [&](long long row) {
    for (int k = r.offsets[row] - r.base; k < r.offsets[row + 1] - r.base; ++k)
      r.rows[k] = (int)row + r.base;
  });
}

}  // namespace

// Kernels by types in and out; sums that are made by atomic additions have the type out.
#define NW_LINES(In, Out, suffix)                                                                       \
  extern "C" __global__ void cusparse_lines_##suffix(ProductArgs p) { lines<In, Out>(p); }             \
  extern "C" __global__ void cusparse_line_by_warps_##suffix(ProductArgs p) { line_by_warps<In, Out>(p); }
#define NW_SUMS(In, Out, suffix)                                                                 \
  extern "C" __global__ void cusparse_across_##suffix(ProductArgs p) { across<In, Out>(p); }     \
  extern "C" __global__ void cusparse_coordinates_##suffix(ProductArgs p) { coordinates<In, Out>(p); }
#define NW_SCALE(Out, suffix) \
  extern "C" __global__ void cusparse_scale_##suffix(ProductArgs p) { scale<Out>(p); }
#define NW_CONVERSIONS(T, suffix)                                                            \
  extern "C" __global__ void cusparse_to_dense_##suffix(ProductArgs p) { to_dense<T>(p); }   \
  extern "C" __global__ void cusparse_count_##suffix(ConvertArgs c) { count<T>(c); }         \
  extern "C" __global__ void cusparse_from_dense_##suffix(ConvertArgs c) { from_dense<T>(c); }
#define NW_KERNELS(T, suffix) \
  NW_LINES(T, T, suffix)      \
  NW_SUMS(T, T, suffix)       \
  NW_SCALE(T, suffix)         \
  NW_CONVERSIONS(T, suffix)
#define NW_MIXED(In, Out, suffix) \
  NW_LINES(In, Out, suffix)       \
  NW_SUMS(In, Out, suffix)
#define NW_NARROW(T, suffix)                                                                 \
  NW_LINES(T, T, suffix)                                                                     \
  NW_SCALE(T, suffix)                                                                        \
  NW_CONVERSIONS(T, suffix)                                                                  \
  NW_MIXED(T, float, suffix##_f32)                                                           \
  extern "C" __global__ void cusparse_round_off_##suffix(ProductArgs p) { round_off<T>(p); }
NW_KERNELS(float, f32)
NW_KERNELS(double, f64)
NW_KERNELS(Complex<float>, c32)
NW_KERNELS(Complex<double>, c64)
NW_NARROW(__half, f16)
NW_NARROW(__nv_bfloat16, bf16)
NW_MIXED(signed char, int, s8_s32)
NW_MIXED(signed char, float, s8_f32)
NW_SCALE(int, s32)
extern "C" __global__ void cusparse_add_up(ConvertArgs c) { add_up(c); }
extern "C" __global__ void cusparse_row_offsets(RowsArgs r) { row_offsets(r); }
extern "C" __global__ void cusparse_rows_of(RowsArgs r) { rows_of(r); }
