// Weights in the formats that language models are kept in, eight of a row at a time, and what adds up their products.
#pragma once

#include <cuda_fp16.h>

constexpr int kGroup = 128;  // weights of 8 and of 4 bits that share a scale
constexpr int kTokens = 8;   // of a batch for which a weight is read once

__device__ __forceinline__ float lane_sum(float x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(0xffffffffu, x, distance);
  return x;
}
__device__ __forceinline__ float2 pair(unsigned bits) {
  return __half22float2(*reinterpret_cast<const __half2*>(&bits));
}

/// Weights at `w`, by rows; `scales` are those of groups of a row, of formats that have them.
struct F16 {
  const void* w;
  const __half* scales;
  __device__ __forceinline__ void eight(int row, int i, int columns, float* to) const {
    const uint4 q = static_cast<const uint4*>(w)[static_cast<size_t>(row) * (columns / 8) + i];
    reinterpret_cast<float2*>(to)[0] = pair(q.x);
    reinterpret_cast<float2*>(to)[1] = pair(q.y);
    reinterpret_cast<float2*>(to)[2] = pair(q.z);
    reinterpret_cast<float2*>(to)[3] = pair(q.w);
  }
};
struct Bf16 {
  const void* w;
  const __half* scales;
  __device__ __forceinline__ void eight(int row, int i, int columns, float* to) const {
    const uint4 q = static_cast<const uint4*>(w)[static_cast<size_t>(row) * (columns / 8) + i];
    const unsigned words[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      to[2 * e] = __uint_as_float(words[e] << 16);
      to[2 * e + 1] = __uint_as_float(words[e] & 0xffff0000u);
    }
  }
};
struct Int8 {
  const void* w;
  const __half* scales;
  __device__ __forceinline__ void eight(int row, int i, int columns, float* to) const {
    const uint2 q = static_cast<const uint2*>(w)[static_cast<size_t>(row) * (columns / 8) + i];
    const float scale = __half2float(scales[static_cast<size_t>(row) * (columns / kGroup) + i / (kGroup / 8)]);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      to[e] = scale * static_cast<float>(static_cast<signed char>(q.x >> (8 * e)));
      to[4 + e] = scale * static_cast<float>(static_cast<signed char>(q.y >> (8 * e)));
    }
  }
};
/// Weights of 4 bits, less 8.
struct Int4 {
  const void* w;
  const __half* scales;
  __device__ __forceinline__ void eight(int row, int i, int columns, float* to) const {
    const unsigned q = static_cast<const unsigned*>(w)[static_cast<size_t>(row) * (columns / 8) + i];
    const float scale = __half2float(scales[static_cast<size_t>(row) * (columns / kGroup) + i / (kGroup / 8)]);
#pragma unroll
    for (int e = 0; e < 8; ++e) to[e] = scale * static_cast<float>(static_cast<int>(q >> (4 * e) & 15) - 8);
  }
};
/// FP8 (e4m3): its bits in the places of f16's are the value over 2^8, subnormal or not.
struct Fp8 {
  const void* w;
  const __half* scales;
  __device__ __forceinline__ void eight(int row, int i, int columns, float* to) const {
    const uint2 q = static_cast<const uint2*>(w)[static_cast<size_t>(row) * (columns / 8) + i];
    const float scale =
        256.0f * __half2float(scales[static_cast<size_t>(row) * (columns / kGroup) + i / (kGroup / 8)]);
    const unsigned words[2] = {q.x, q.y};
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const unsigned two = words[e / 2] >> (16 * (e % 2)), apart = (two & 0xff) << 8 | (two & 0xff00) << 16;
      const float2 v = pair((apart & 0x80008000u) | (apart & 0x7f007f00u) >> 1);
      to[2 * e] = scale * v.x;
      to[2 * e + 1] = scale * v.y;
    }
  }
};
