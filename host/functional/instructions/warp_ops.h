// Shuffles and votes among the lanes of a warp.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "host/functional/instructions/lanes.h"

namespace nearwarp::exec {

enum class Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };
enum class Vote : uint8_t { kAll, kAny, kUniform, kBallot };

/// Finds the lane from which lane `i` reads, for operands `b` and `c` of shfl. Returns false if it
/// is out of range; lane `i` then reads its own value. Source: PTX ISA 9.0, section 9.7.9.6.
NW_HD NW_INLINE bool shuffle_source(Shuffle mode, uint32_t i, uint32_t b, uint32_t c,
                                    uint32_t* from) {
  const uint32_t delta = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t highest = (i & segment) | (clamp & ~segment);
  const uint32_t lowest = i & segment;
  switch (mode) {
    case Shuffle::kUp:
      *from = i - delta;
      return static_cast<int32_t>(*from) >= static_cast<int32_t>(highest);
    case Shuffle::kDown:
      *from = i + delta;
      return *from <= highest;
    case Shuffle::kButterfly:
      *from = i ^ delta;
      return *from <= highest;
    case Shuffle::kIndex:
      break;
  }
  *from = lowest | (delta & ~segment);
  return *from <= highest;
}

/// Stores for each lane the lane from which it reads, or the lane itself if that is out of range.
/// Returns the mask of lanes whose source is in range.
template <Shuffle kMode>
NW_HD NW_INLINE uint32_t shuffle_sources(const uint32_t* b, const uint32_t* c, uint32_t* from) {
  uint32_t in_range = 0;
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) {
    uint32_t at = i;
    const bool ok = shuffle_source(kMode, i, b[i], c[i], &at);
    from[i] = ok ? at & 31 : i;
    in_range |= (0u - static_cast<uint32_t>(ok)) & kLaneBit<uint32_t>.at[i];
  }
  return in_range;
}
NW_HD NW_INLINE uint32_t shuffle_sources(Shuffle mode, const uint32_t* b, const uint32_t* c,
                                         uint32_t* from) {
  switch (mode) {
    case Shuffle::kUp:
      return shuffle_sources<Shuffle::kUp>(b, c, from);
    case Shuffle::kDown:
      return shuffle_sources<Shuffle::kDown>(b, c, from);
    case Shuffle::kButterfly:
      return shuffle_sources<Shuffle::kButterfly>(b, c, from);
    case Shuffle::kIndex:
      break;
  }
  return shuffle_sources<Shuffle::kIndex>(b, c, from);
}

/// d[i] = a[from[i]], where `from` is below 32; `d` is not `a`.
NW_HD NW_INLINE void permute(const uint32_t* a, const uint32_t* from, uint32_t* d) {
#if defined(__AVX2__)
  __m256i parts[4];
  for (int p = 0; p < 4; ++p)
    parts[p] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a) + p);
  for (uint32_t i = 0; i < kLanes; i += 8) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    // Bits 3 and 4 of an index, which select the part, are moved to the sign bit for the blends.
    const __m256 odd = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
    const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(at, 27));
    const auto of = [&](int p) {
      return _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(parts[p], at));
    };
    const __m256 found = _mm256_blendv_ps(_mm256_blendv_ps(of(0), of(1), odd),
                                          _mm256_blendv_ps(of(2), of(3), odd), upper);
    _mm256_storeu_ps(reinterpret_cast<float*>(d + i), found);
  }
#else
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = a[from[i]];
#endif
}

/// Executes shfl.sync. Returns its predicate, the mask of lanes whose source is in range.
NW_HD inline uint32_t shuffle(uint8_t* rows, const Op& op, uint32_t mask) {
  alignas(32) uint32_t from[kLanes], result[kLanes];
  const uint32_t in_range = shuffle_sources(
      static_cast<Shuffle>(op.imm & 3), row<uint32_t>(rows, op.b), row<uint32_t>(rows, op.c), from);
  permute(row<uint32_t>(rows, op.a), from, result);
  uint32_t* d = row<uint32_t>(rows, op.d);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = lane_in<uint32_t>(mask, i) ? result[i] : d[i];
  return in_range;
}

/// The mask of lanes in `among` with `value` in row `r`.
NW_HD NW_INLINE uint32_t lanes_with(uint8_t* rows, uint16_t r, uint32_t value, uint32_t among) {
  const uint32_t* values = row<uint32_t>(rows, r);
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < kLanes; ++i) lanes |= static_cast<uint32_t>(values[i] == value) << i;
  return lanes & among;
}

/// The result of a vote among the lanes `voters`, where the predicate holds in the lanes `yes`.
NW_HD NW_INLINE uint32_t vote(Vote mode, uint32_t yes, uint32_t voters) {
  switch (mode) {
    case Vote::kAll:
      return (yes & voters) == voters ? kFullMask : 0;
    case Vote::kAny:
      return (yes & voters) != 0 ? kFullMask : 0;
    case Vote::kUniform:
      return (yes & voters) == voters || (yes & voters) == 0 ? kFullMask : 0;
    default:
      return yes & voters;
  }
}

}  // namespace nearwarp::exec
