// A thread block's tile of a product: how operands come into shared memory, and results leave.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>

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

/// Bytes that a thread brings from memory at once.
constexpr int kPieceBytes = 16;

/// One operand's part of a tile: kDepth of k, each with kTile rows (of A) or columns (of B), in pieces that stand
/// together in memory. A thread has some of them in registers while the tile before is multiplied, and puts them into
/// shared memory then: waiting for memory and multiplying so overlap. What lies beyond the matrix is 0. A line is what
/// stands together in memory: of k, or of rows or columns.
template <class In, int kDepth>
struct Pieces {
  static constexpr int kOf = kPieceBytes / int(sizeof(In)), kOwn = kTile * kDepth / kOf / kThreads;
  // Lines in shared memory begin in different banks.
  static constexpr int kPitchAlong = kDepth + kOf, kPitchAcross = kTile + kOf;
  static constexpr int kShared = kTile * kPitchAlong > kDepth * kPitchAcross ? kTile * kPitchAlong : kDepth * kPitchAcross;
  static_assert(kOwn * kOf * kThreads == kTile * kDepth);
  struct alignas(kPieceBytes) Piece {
    In of[kOf];
  };
  static_assert(sizeof(Piece) == sizeof(uint4));

  const bool along;  ///< elements of k stand together in memory
  const int line, begin;  ///< of the first piece: its line in the tile, and where in the line it begins
  const int lines;        ///< from one piece of this thread to its next
  uint4 own[kOwn];        ///< Piece; as words, which need no packing where elements are not looked at

  /// Rows or columns from `first` on, of `limit`, and the first elements of k.
  __device__ Pieces(const In* data, long long pitch, bool k_stands_together, int first, int limit, int k_limit)
      : along(k_stands_together),
        line(int(threadIdx.x) / (along ? kDepth / kOf : kTile / kOf)),
        begin(int(threadIdx.x) % (along ? kDepth / kOf : kTile / kOf) * kOf),
        lines(kThreads / (along ? kDepth / kOf : kTile / kOf)),
        // Rows and columns, and memory, are read in whole pieces.
        whole_(pitch % kOf == 0 && reinterpret_cast<unsigned long long>(data) % kPieceBytes == 0 && first + kTile <= limit),
        at_(data + (along ? begin + (first + line) * pitch : first + begin + line * pitch)),
        step_(along ? kDepth : kDepth * pitch),
        next_(lines * pitch),
        left_(k_limit),
        rows_(limit - first) {}

  /// Reads the next kDepth of k.
  __device__ void fetch() {
    if (whole_ && left_ >= kDepth) {
#pragma unroll
      for (int n = 0; n < kOwn; ++n) own[n] = *reinterpret_cast<const uint4*>(at_ + n * next_);
    } else {
      const int line_end = along ? rows_ : left_, end = along ? left_ : rows_;
#pragma unroll
      for (int n = 0; n < kOwn; ++n) {
        const bool inside = line + n * lines < line_end;
        Piece piece;
#pragma unroll
        for (int j = 0; j < kOf; ++j)
          piece.of[j] = inside && begin + j < end ? at_[n * next_ + j] : convert<In>(0.0f);
        memcpy(&own[n], &piece, sizeof(piece));
      }
    }
    at_ += step_;
    left_ -= kDepth;
  }

  /// to[line][place in the line], as memory has it: kShared elements.
  __device__ void put_lines(In* to) const {
    const int pitch = along ? kPitchAlong : kPitchAcross;
#pragma unroll
    for (int n = 0; n < kOwn; ++n)
      *reinterpret_cast<uint4*>(to + line * pitch + begin + n * lines * pitch) = own[n];
  }

  /// to[k][row or column], whatever stands together in memory; sixteen of these begin every kBlock.
  template <int kBlock = 16, class To, int kPitch>
  __device__ void put(To (*to)[kPitch]) const {
    const auto place = [](int i) { return kBlock == 16 ? i : i / 16 * kBlock + i % 16; };
#pragma unroll
    for (int n = 0; n < kOwn; ++n) {
      Piece piece;
      memcpy(&piece, &own[n], sizeof(piece));
      if (along) {
#pragma unroll
        for (int j = 0; j < kOf; ++j) to[begin + j][place(line + n * lines)] = convert<To>(piece.of[j]);
      } else if constexpr (sizeof(In) == sizeof(To)) {  // a piece lies within sixteen
        *reinterpret_cast<uint4*>(&to[line + n * lines][place(begin)]) = own[n];
      } else {
#pragma unroll
        for (int j = 0; j < kOf; ++j) to[line + n * lines][place(begin) + j] = convert<To>(piece.of[j]);
      }
    }
  }

 private:
  const bool whole_;
  const In* at_;
  const long long step_, next_;
  int left_;  ///< of k
  const int rows_;
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

/// An element as it is stored: with its bias; it and its bit stand also in what is kept beside.
template <class Out>
__device__ __noinline__ float after(int epilogue, float x, const Out* bias, Out* aux, unsigned char* bits,
                                    long long bit) {
  if ((epilogue & kBias) != 0) x += convert<float>(*bias);
  if ((epilogue & kGeluGradient) != 0) x *= gelu_gradient(convert<float>(*aux));
  if ((epilogue & kReluGradient) != 0 && (bits[bit / 8] >> (bit % 8) & 1) == 0) x = 0;
  if ((epilogue & kStoreAux) != 0) {
    if ((epilogue & kGelu) != 0) *aux = convert<Out>(x);
    if ((epilogue & kRelu) != 0) {
      unsigned* const word = reinterpret_cast<unsigned*>(bits) + bit / 32;
      const unsigned mask = 1u << (bit % 32);
      if (x > 0) atomicOr(word, mask);
      else atomicAnd(word, ~mask);
    }
  }
  if ((epilogue & kRelu) != 0) x = x > 0 ? x : 0;
  if ((epilogue & kGelu) != 0) x = gelu(x);
  return x;
}

/// Stores the element of a tile at (row, column), whose sum of products is `sum`. Parameters are not handed on by their
/// address, for which nvcc would copy them to every thread's memory.
template <class Out, class Sum>
struct Store {
  const int m, n, epilogue;
  const Sum alpha, beta;
  const Out* const c;
  Out* const d;
  const long long c_ld, d_ld;
  const Out* const bias;
  unsigned char* const aux;
  const long long aux_ld, aux_first;  ///< in elements, or bits

  __device__ Store(const GemmArgs& p, int item)
      : m(p.m),
        n(p.n),
        epilogue(p.epilogue),
        alpha(value_of<Sum>(p.alpha)),
        beta(value_of<Sum>(p.beta)),
        c(item_of<Out>(p.c, item)),
        d(const_cast<Out*>(item_of<Out>(p.d, item))),
        c_ld(p.c.ld),
        d_ld(p.d.ld),
        bias(static_cast<const Out*>(p.bias) + (p.bias != nullptr ? item * p.bias_stride : 0)),
        aux(static_cast<unsigned char*>(p.aux)),
        aux_ld(p.aux_ld),
        aux_first(item * p.aux_stride) {}

  __device__ void operator()(int row, int column, Sum sum) const {
    if (row >= m || column >= n) return;
    // Where alpha or beta is 0, what they are factors of may hold no number; C is not read then.
    Sum x = alpha != Sum(0) ? alpha * sum : Sum(0);
    if (beta != Sum(0)) x += beta * convert<Sum>(c[row + column * c_ld]);
    if constexpr (sizeof(Sum) == sizeof(float)) {
      if (epilogue != 0) {
        // Bits of a column stand together, as elements do.
        const long long at = aux_first + row + column * aux_ld;
        x = static_cast<Sum>(after(epilogue, static_cast<float>(x), bias + row, reinterpret_cast<Out*>(aux) + at, aux, at));
      }
    }
    d[row + column * d_ld] = convert<Out>(x);
  }
};

}  // namespace nearwarp::cublas
