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
constexpr int kThreads = 128;

/// What a thread brings from memory at once, in bytes.
constexpr int kPieceBytes = 16;

/// One operand's part of a tile: kDepth of k, each with kTile rows (of A) or columns (of B), in pieces that stand
/// together in memory. A thread has some of them in registers while the tile before is multiplied, and puts them into
/// shared memory then: waiting for memory and multiplying so overlap. What lies beyond the matrix is 0.
template <class In, int kDepth>
struct Pieces {
  static constexpr int kOf = kPieceBytes / int(sizeof(In)), kOwn = kTile * kDepth / kOf / kThreads;
  static_assert(kOwn * kOf * kThreads == kTile * kDepth);
  struct alignas(kPieceBytes) Piece {
    In of[kOf];
  };

  const In* from;
  long long ld;
  bool along;  ///< elements of k stand together in memory, else rows or columns
  bool whole;  ///< pieces begin where memory is read in whole pieces
  int first, end, k_end;
  Piece own[kOwn];

  __device__ Pieces(const In* data, long long pitch, bool k_stands_together, int begin, int limit, int k_limit)
      : from(data),
        ld(pitch),
        along(k_stands_together),
        whole(pitch % kOf == 0 && reinterpret_cast<unsigned long long>(data) % kPieceBytes == 0),
        first(begin),
        end(limit),
        k_end(k_limit) {}

  /// Of piece n of this thread: its line, and where in the line it begins.
  __device__ int line(int n) const { return at(n) / (along ? kDepth / kOf : kTile / kOf); }
  __device__ int begin(int n) const { return at(n) % (along ? kDepth / kOf : kTile / kOf) * kOf; }

  /// Reads the elements from k on.
  __device__ void fetch(int k) {
    const int line_from = along ? first : k, line_end = along ? end : k_end;
    const int from_ = along ? k : first, end_ = along ? k_end : end;
#pragma unroll
    for (int n = 0; n < kOwn; ++n) {
      const int y = line_from + line(n), x = from_ + begin(n);
      const In* const source = from + y * ld + x;
      if (whole && y < line_end && x + kOf <= end_) {
        own[n] = *reinterpret_cast<const Piece*>(source);
      } else {
#pragma unroll
        for (int j = 0; j < kOf; ++j) own[n].of[j] = y < line_end && x + j < end_ ? source[j] : convert<In>(0.0f);
      }
    }
  }

  // Lines in shared memory begin in different banks.
  static constexpr int kPitchAlong = kDepth + kOf, kPitchAcross = kTile + kOf;
  static constexpr int kShared = kTile * kPitchAlong > kDepth * kPitchAcross ? kTile * kPitchAlong : kDepth * kPitchAcross;

  /// to[line][place in the line], as memory has it: kShared elements.
  __device__ void put_lines(In* to) const {
    const int pitch = along ? kPitchAlong : kPitchAcross;
#pragma unroll
    for (int n = 0; n < kOwn; ++n) *reinterpret_cast<Piece*>(to + line(n) * pitch + begin(n)) = own[n];
  }

  /// to[k][row or column], whatever stands together in memory; sixteen of these begin every kBlock.
  template <int kBlock = 16, class To, int kPitch>
  __device__ void put(To (*to)[kPitch]) const {
    const auto place = [](int i) { return kBlock == 16 ? i : i / 16 * kBlock + i % 16; };
#pragma unroll
    for (int n = 0; n < kOwn; ++n)
#pragma unroll
      for (int j = 0; j < kOf; ++j) {
        if (along) to[begin(n) + j][place(line(n))] = convert<To>(own[n].of[j]);
        else to[line(n)][place(begin(n) + j)] = convert<To>(own[n].of[j]);
      }
  }

 private:
  __device__ static int at(int n) { return n * kThreads + int(threadIdx.x); }
};

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
