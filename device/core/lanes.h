// Loops over things that are independent of each other: banks, ways, ports. On the CPU its compiler
// makes vector code of them; a lane of a GPU, which steps a component by itself, goes through them
// one after the other.
#pragma once

#include <cstdint>

#include "device/core/bits.h"

#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace nearwarp {

/// The result where no i was found.
inline constexpr uint32_t kNoLane = 0xffffffffu;

}  // namespace nearwarp

namespace nearwarp::lanes {

/// f(i) for each i in [0, n); iterations must be independent.
template <class F>
NW_HD NW_INLINE void each(uint32_t n, F&& f) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#else
#pragma omp simd
#endif
  for (uint32_t i = 0; i < n; ++i) f(i);
}

/// f(i) for each i in [0, n), in any order, with bodies that branch or call.
template <class F>
NW_HD NW_INLINE void each_scalar(uint32_t n, F&& f) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  for (uint32_t i = 0; i < n; ++i) f(i);
}

/// f(i) for each set bit i of `bits`.
template <class F>
NW_HD NW_INLINE void each_bit(uint64_t bits, F&& f) {
  for (; bits != 0; bits &= bits - 1) f(count_trailing_zeros(bits));
}

/// Bit mask of the i in [0, n), n <= 64, for which pred(i).
template <class F>
NW_HD NW_INLINE uint64_t ballot(uint32_t n, F&& pred) {
#if defined(__AVX2__) && !defined(__CUDACC__)
  // Compilers do not find the instruction that gathers eight lanes' bits.
  uint64_t all = 0;
  uint32_t at = 0;
  for (; at + 8 <= n; at += 8) {
    alignas(32) uint32_t eight[8];
#pragma omp simd
    for (uint32_t i = 0; i < 8; ++i) eight[i] = pred(at + i) ? 0xffffffffu : 0;
    const __m256 lanes = _mm256_load_ps(reinterpret_cast<const float*>(eight));
    all |= uint64_t{static_cast<uint32_t>(_mm256_movemask_ps(lanes))} << at;
  }
  if (at + 4 <= n) {
    alignas(16) uint32_t four[4];
#pragma omp simd
    for (uint32_t i = 0; i < 4; ++i) four[i] = pred(at + i) ? 0xffffffffu : 0;
    const __m128 lanes = _mm_load_ps(reinterpret_cast<const float*>(four));
    all |= uint64_t{static_cast<uint32_t>(_mm_movemask_ps(lanes))} << at;
    at += 4;
  }
  for (; at < n; ++at) all |= uint64_t{static_cast<bool>(pred(at))} << at;
  return all;
#else
  uint64_t bits = 0;
  uint32_t low = 0, high = 0;
  const uint32_t n_low = n < 32 ? n : 32;
#pragma omp simd reduction(| : low)
  for (uint32_t i = 0; i < n_low; ++i) low |= static_cast<uint32_t>(pred(i)) << i;
  bits = low;
  if (n > 32) {
#pragma omp simd reduction(| : high)
    for (uint32_t i = 32; i < n; ++i) high |= static_cast<uint32_t>(pred(i)) << (i - 32);
    bits |= uint64_t{high} << 32;
  }
  return bits;
#endif
}

/// Some i in [0, n) satisfies pred(i)?
template <class F>
NW_HD NW_INLINE bool any(uint32_t n, F&& pred) {
  uint32_t found = 0;
#pragma omp simd reduction(| : found)
  for (uint32_t i = 0; i < n; ++i) found |= static_cast<uint32_t>(pred(i));
  return found != 0;
}

/// Least i in [0, n) for which pred(i); kNoLane if there is none.
template <class F>
NW_HD NW_INLINE uint32_t first(uint32_t n, F&& pred) {
  for (uint32_t at = 0; at < n; at += 64) {
    const uint32_t m = n - at < 64 ? n - at : 64;
    const uint64_t bits = ballot(m, [&](uint32_t i) { return pred(at + i); });
    if (bits != 0) return at + count_trailing_zeros(bits);
  }
  return kNoLane;
}

/// Minimum of the 32-bit key(i) over [0, n); 0xffffffff for n == 0.
template <class F>
NW_HD NW_INLINE uint32_t minimum(uint32_t n, F&& key) {
  uint32_t least = 0xffffffffu;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#else
#pragma omp simd reduction(min : least)
#endif
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t k = key(i);
    least = k < least ? k : least;
  }
  return least;
}

/// Least i with the minimal key over [0, n); kNoLane for n == 0 or if every key is 0xffffffff.
template <class F>
NW_HD NW_INLINE uint32_t arg_min(uint32_t n, F&& key) {
  const uint32_t least = minimum(n, key);
  if (least == 0xffffffffu) return kNoLane;
  return first(n, [&](uint32_t i) { return key(i) == least; });
}

}  // namespace nearwarp::lanes
