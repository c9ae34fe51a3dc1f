// A thread block's tile of a product: how operands come into shared memory, and results leave.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "host/functional/cublas/kernels/gemm_args.h"

namespace nearwarp::cublas {

template <class To, class From>
__device__ To convert(From v) {
  return static_cast<To>(v);
}
template <>
__device__ inline __half convert(__half v) {
  return v;
}
template <>
__device__ inline __nv_bfloat16 convert(__nv_bfloat16 v) {
  return v;
}
template <>
__device__ inline float convert(__half v) {
  return __half2float(v);
}
template <>
__device__ inline float convert(__nv_bfloat16 v) {
  return __bfloat162float(v);
}
template <>
__device__ inline __half convert(float v) {
  return __float2half_rn(v);
}
template <>
__device__ inline __nv_bfloat16 convert(float v) {
  return __float2bfloat16_rn(v);
}

template <class T>
__device__ const T* item_of(const Matrix& x, int item) {
  if (x.items != nullptr) return static_cast<const T*>(x.items[item]);
  return static_cast<const T*>(x.data) + item * x.stride;
}

/// Results of a thread block, in rows and columns.
constexpr int kTile = 64;

/// kDepth rows or columns, from `k` on, of what a thread block multiplies: to[x][i] is element k + x
/// of its row (of A) or column (of B) i, from the matrix `of`; what lies beyond it is 0. `along`: those
/// of one i stand together in memory. Threads that stand together read what stands together. Sixteen of i
/// begin every kBlock.
template <int kDepth, int kThreads, int kBlock = 16, class In, class To, int kPitch>
__device__ void load(To (*to)[kPitch], const In* from, long long ld, bool along, int first, int end,
                     int k, int k_end) {
#pragma unroll 2
  for (int n = threadIdx.x; n < kTile * kDepth; n += kThreads) {
    const int x = along ? n % kDepth : n / kTile, i = along ? n / kDepth : n % kTile;
    const bool inside = first + i < end && k + x < k_end;
    const long long at = along ? k + x + (first + i) * ld : first + i + (k + x) * ld;
    const int place = kBlock == 16 ? i : i / 16 * kBlock + i % 16;
    to[x][place] = inside ? convert<To>(from[at]) : convert<To>(0.0f);
  }
}

/// The scalar, which the device has as a `Sum` or as an f16.
template <class Sum>
__device__ Sum value_of(const Scalar& s) {
  if (s.at == nullptr) return static_cast<Sum>(s.value);
  if (s.is_half != 0) return static_cast<Sum>(__half2float(*static_cast<const __half*>(s.at)));
  return *static_cast<const Sum*>(s.at);
}

constexpr float kGeluScale = 0.7978845608028654f;  // sqrt(2 / pi)
constexpr float kGeluCube = 0.044715f;

__device__ inline float gelu(float x) {
  return 0.5f * x * (1 + tanhf(kGeluScale * (x + kGeluCube * x * x * x)));
}
__device__ inline float gelu_gradient(float x) {
  const float t = tanhf(kGeluScale * (x + kGeluCube * x * x * x));
  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * kGeluScale * (1 + 3 * kGeluCube * x * x);
}

/// Stores the element of a tile at (row, column), whose sum of products is `sum`.
template <class Out, class Sum>
struct Store {
  const GemmArgs& p;
  int item;
  Sum alpha, beta;
  const Out* c;
  Out* d;
  const Out* bias;
  unsigned char* aux_bytes;

  __device__ Store(const GemmArgs& args, int i)
      : p(args),
        item(i),
        alpha(value_of<Sum>(args.alpha)),
        beta(value_of<Sum>(args.beta)),
        c(item_of<Out>(args.c, i)),
        d(const_cast<Out*>(item_of<Out>(args.d, i))),
        bias(static_cast<const Out*>(args.bias) + (args.bias != nullptr ? i * args.bias_stride : 0)),
        aux_bytes(static_cast<unsigned char*>(args.aux)) {}

  __device__ void operator()(int row, int column, Sum sum) const {
    if (row >= p.m || column >= p.n) return;
    Sum x = alpha * sum;
    // Where beta is 0, C is not read, and may hold no number.
    if (beta != Sum(0)) x += beta * convert<Sum>(c[row + column * p.c.ld]);
    if constexpr (sizeof(Sum) == sizeof(float)) {
      if (p.epilogue != 0) x = static_cast<Sum>(after(row, column, static_cast<float>(x)));
    }
    d[row + column * p.d.ld] = convert<Out>(x);
  }

 private:
  __device__ __noinline__ float after(int row, int column, float x) const {
    Out* const aux = reinterpret_cast<Out*>(aux_bytes) + item * p.aux_stride + row + column * p.aux_ld;
    // Bits of a column stand together; aux_ld counts them.
    const long long bit = item * p.aux_stride + row + column * p.aux_ld;
    if ((p.epilogue & kBias) != 0) x += convert<float>(bias[row]);
    if ((p.epilogue & kGeluGradient) != 0) x *= gelu_gradient(convert<float>(*aux));
    if ((p.epilogue & kReluGradient) != 0 && (aux_bytes[bit / 8] >> (bit % 8) & 1) == 0) x = 0;
    if ((p.epilogue & kStoreAux) != 0) {
      if ((p.epilogue & kGelu) != 0) *aux = convert<Out>(x);
      if ((p.epilogue & kRelu) != 0) {
        unsigned* const word = reinterpret_cast<unsigned*>(aux_bytes) + bit / 32;
        const unsigned mask = 1u << (bit % 32);
        if (x > 0) atomicOr(word, mask);
        else atomicAnd(word, ~mask);
      }
    }
    if ((p.epilogue & kRelu) != 0) x = x > 0 ? x : 0;
    if ((p.epilogue & kGelu) != 0) x = gelu(x);
    return x;
  }
};

}  // namespace nearwarp::cublas
