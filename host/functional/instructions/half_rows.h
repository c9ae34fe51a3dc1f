// Halves of many lanes at once: to f32, which has all of them, and back by one rounding.
#pragma once

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "host/functional/instructions/half_ops.h"
#include "host/functional/instructions/scalar.h"

namespace nearwarp::exec {

/// Converts halves to f32. `count` is a multiple of 8, here and in f16_of_floats().
inline void floats_of_f16(const uint16_t* halves, uint32_t count, float* to) {
#if defined(__F16C__)
  for (uint32_t i = 0; i < count; i += 8)
    _mm256_storeu_ps(
        to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
#else
  for (uint32_t i = 0; i < count; ++i) to[i] = static_cast<float>(half_value(halves[i], false));
#endif
}
inline void floats_of_bf16(const uint16_t* halves, uint32_t count, float* to) {
  for (uint32_t i = 0; i < count; ++i) to[i] = bits_as<float>(uint32_t{halves[i]} << 16);
}

/// Rounds to the nearest half, ties to even; what is no number becomes 0x7fff.
inline void f16_of_floats(const float* from, uint32_t count, uint16_t* to) {
#if defined(__F16C__)
  for (uint32_t i = 0; i < count; i += 8) {
    const __m256 x = _mm256_loadu_ps(from + i);
    const __m128i rounded = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    const __m256i none = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    const __m128i narrow =
        _mm_packs_epi32(_mm256_castsi256_si128(none), _mm256_extracti128_si256(none, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_blendv_epi8(rounded, _mm_set1_epi16(0x7fff), narrow));
  }
#else
  for (uint32_t i = 0; i < count; ++i)
    to[i] = static_cast<uint16_t>(half_bits(static_cast<double>(from[i]), false, Round::kNearest));
#endif
}
inline void bf16_of_floats(const float* from, uint32_t count, uint16_t* to) {
  for (uint32_t i = 0; i < count; ++i) {
    const auto bits = bits_as<uint32_t>(from[i]);
    // Half of the last place, less one where the value is even; it may carry into an infinity.
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    to[i] = static_cast<uint16_t>(from[i] == from[i] ? rounded : 0x7fff);
  }
}

/// A number rounded to odd: where f32 lacks it, that of its two neighbours whose last bit is set.
/// Rounding this again, to fewer bits, gives what rounding `v` at once would. Infinities and what
/// is no number stay.
NW_INLINE float odd_float(double v) {
  const auto nearest = static_cast<float>(v);
  const auto back = static_cast<double>(nearest);
  const auto bits = bits_as<uint32_t>(nearest);
  const bool beyond = (back < 0 ? -back : back) > (v < 0 ? -v : v);
  const bool other = back < v || back > v;
  const uint32_t towards_zero = beyond ? bits - 1 : bits;
  return bits_as<float>(other ? towards_zero | 1 : bits);
}

/// A sum rounded to odd in f64: where it is not exact, that of its two neighbours whose last bit
/// is set.
NW_INLINE double odd_sum(double a, double b) {
  const double sum = a + b, part = sum - a;  // Knuth's error of a sum
  const double error = (a - (sum - part)) + (b - part);
  const auto bits = bits_as<uint64_t>(sum);
  const bool moves = (error < 0 || error > 0) && (bits & 1) == 0;
  const uint64_t moved = (error < 0) == (sum < 0) ? bits + 1 : bits - 1;
  return bits_as<double>(moves ? moved : bits);
}

/// Numbers in f64 to halves, to the nearest.
inline void halves_of_doubles(const double* from, uint32_t count, bool bf16, uint16_t* to) {
  constexpr uint32_t kAtOnce = 32;
  float floats[kAtOnce];
  for (uint32_t done = 0; done < count; done += kAtOnce) {
    const uint32_t now = count - done < kAtOnce ? count - done : kAtOnce;
    for (uint32_t i = 0; i < now; ++i) floats[i] = odd_float(from[done + i]);
    if (bf16)
      bf16_of_floats(floats, now, to + done);
    else
      f16_of_floats(floats, now, to + done);
  }
}

/// Executes kHalf for all lanes; false, with nothing done, for functions.
bool half_rows(uint8_t* rows, const Op& op, uint32_t mask);

}  // namespace nearwarp::exec
