// Words that the lanes of a full warp find at their offsets, with the host's vector registers.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "host/functional/instructions/lanes.h"

namespace nearwarp::exec {

/// As many values of type T as a vector register of the host holds.
template <class T>
struct VectorOf {
  static constexpr uint32_t kCount = 32 / sizeof(T);
  typedef T Type __attribute__((vector_size(32)));
};

template <class Vector>
NW_HD NW_INLINE bool is_zero(const Vector& v) {
#if defined(__AVX2__)
  __m256i all;
  static_assert(sizeof(v) == sizeof(all));
  std::memcpy(&all, &v, sizeof(all));
  return _mm256_testz_si256(all, all) != 0;
#else
  typedef uint64_t Half __attribute__((vector_size(16)));
  Half half[2];
  std::memcpy(half, &v, sizeof(half));
  half[0] |= half[1];
  return (half[0][0] | half[0][1]) == 0;
#endif
}

/// Is it a progression first, first + stride, ... over all lanes? Neighbours are not compared with
/// each other: loads that straddle what was stored just before, as addresses mostly are, stall.
template <class A>
NW_HD NW_INLINE bool is_progression(const A* a, A stride) {
  using Vector = typename VectorOf<A>::Type;
  constexpr uint32_t kPart = VectorOf<A>::kCount;
  if (static_cast<A>(a[kLanes - 1] - a[0]) != static_cast<A>(stride * (kLanes - 1))) return false;
  Vector expected;
  for (uint32_t i = 0; i < kPart; ++i) expected[i] = a[0] + stride * static_cast<A>(i);
  const Vector step = stride * static_cast<A>(kPart) - Vector{};
  Vector differs{};
  for (uint32_t i = 0; i < kLanes; i += kPart, expected += step) {
    Vector v;
    std::memcpy(&v, a + i, sizeof(v));
    differs |= v ^ expected;
  }
  return is_zero(differs);
}

template <class M>
NW_HD NW_INLINE M load_value(const uint8_t* p) {
  M v;
  std::memcpy(&v, p, sizeof(M));
  return v;
}

/// d[i] = the word at p + offsets[i]. Eight (or four) words are put together before they are
/// stored: single stores would stall the vector loads of the row that follow.
template <class M, class A>
NW_HD NW_INLINE void gather(M* d, const uint8_t* p, const A* offsets) {
  using Vector = typename VectorOf<M>::Type;
  constexpr uint32_t kPart = VectorOf<M>::kCount;
  for (uint32_t i = 0; i < kLanes; i += kPart) {
    const auto at = [&](uint32_t k) { return load_value<M>(p + offsets[i + k]); };
    Vector v;
    if constexpr (kPart == 8)
      v = Vector{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
    else
      v = Vector{at(0), at(1), at(2), at(3)};
    std::memcpy(d + i, &v, sizeof(v));
  }
}

}  // namespace nearwarp::exec
