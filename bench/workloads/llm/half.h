// f16 on the host: what weights and caches are kept in.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace nearwarp::workloads {

using Half = uint16_t;

/// Rounded to the nearest f16, to even between two; for finite values within its range.
inline Half to_half(float v) {
  if (v == 0) return std::signbit(v) ? 0x8000 : 0;
  int exponent;
  std::frexp(v, &exponent);                               // |v| in [2^(exponent - 1), 2^exponent)
  const int unit = exponent > -14 ? exponent - 11 : -24;  // of the last place
  const auto places = static_cast<uint32_t>(std::nearbyint(std::ldexp(std::fabs(v), -unit)));
  // A carry of the fraction goes into the exponent.
  const uint32_t bits =
      unit == -24 && places < 1024 ? places : (static_cast<uint32_t>(unit + 24) << 10) + places;
  return static_cast<Half>((std::signbit(v) ? 0x8000u : 0u) | bits);
}
/// The value of a finite one: its exponent and fraction are in the places of an f32's whose
/// exponent is 112 less.
inline float from_half(Half h) {
  const float size = std::bit_cast<float>((h & 0x7fffu) << 13) * 0x1p112f;
  return (h & 0x8000) != 0 ? -size : size;
}

}  // namespace nearwarp::workloads
