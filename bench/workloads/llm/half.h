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
inline float from_half(Half h) {
  const uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
  const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                   : std::ldexp(static_cast<float>(fraction | 1024),
                                                static_cast<int>(exponent) - 25);
  return (h & 0x8000) != 0 ? -size : size;
}

}  // namespace nearwarp::workloads
