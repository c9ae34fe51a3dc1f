// The .approx functions of PTX in single precision. They are computed in double precision by
// polynomials and rounded once, so that results do not depend on the host's libm. Errors are about
// half a unit in the last place, well within the bounds of PTX ISA 9.0, section 9.7.3.
#pragma once

#include <cstdint>

#include "host/functional/instructions/scalar.h"

namespace nearwarp::exec {

/// 2^n for |n| <= 1022.
NW_HD NW_INLINE double power_of_two(int64_t n) {
  return bits_as<double>(static_cast<uint64_t>(n + 1023) << 52);
}

/// Rounds |x| < 2^51 to the nearest integer, ties to even.
NW_HD NW_INLINE double round_magic(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// 2^x (ex2.approx).
NW_HD NW_INLINE float ex2_approx(float x) {
  const double clamped = x < -200.0f ? -200.0 : (x > 200.0f ? 200.0 : static_cast<double>(x));
  const double t = clamped == clamped ? clamped : 0.0;
  const double shifted = t + 0x1.8p52;
  const double n = shifted - 0x1.8p52;
  const double r = (t - n) * 0.693147180559945309417;  // |r| <= 0.3466
  double p = 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // The low bits of `shifted` hold n as an integer.
  const uint64_t exponent = (bits_as<uint64_t>(shifted) << 52) + (uint64_t{1023} << 52);
  const float result = static_cast<float>(p * bits_as<double>(exponent));
  return x != x ? canonical_nan(x) : result;
}

/// Logarithm to the base 2 (lg2.approx).
NW_HD NW_INLINE float lg2_approx(float x) {
  const double d = static_cast<double>(x);  // normal in double precision even if subnormal
  const uint64_t bits = bits_as<uint64_t>(d);
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)).
  const uint64_t offset = bits - 0x3fe6a09e667f3bcdu;
  const double e = static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(offset) >> 52));
  const double m = bits_as<double>(bits - (offset & 0xfff0000000000000u));
  const double s = (m - 1.0) / (m + 1.0);  // |s| <= 0.1716
  const double z = s * s;
  double p = 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  const float result = static_cast<float>(e + 2.88539008177792681472 * s * p);
  const float infinity = bits_as<float>(0x7f800000u);
  if (x != x || x < 0.0f) return canonical_nan(x);
  if (x == 0.0f) return -infinity;
  return x == infinity ? infinity : result;
}

/// Sine (quadrant offset 0) or cosine (1). Large arguments lose accuracy, as on GPUs.
NW_HD NW_INLINE float sin_quadrant(float x, int offset) {
  const double d = static_cast<double>(x);
  // pi/2 is subtracted in two parts, whose products are exact for |n| < 2^20; for larger |n| the
  // error grows slowly.
  const double n =
      round_magic(d * 0.636619772367581343076 * (d < 0x1p50 && d > -0x1p50 ? 1.0 : 0.0));
  const double r = (d - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
  const double z = r * r;
  double s = -2.50521083854417187751e-08;  // -1/11!
  s = s * z + 2.75573192239858906526e-06;
  s = s * z - 1.98412698412698412698e-04;
  s = s * z + 8.33333333333333333333e-03;
  s = s * z - 1.66666666666666666667e-01;
  s = s * z * r + r;
  double c = 2.08767569878680989792e-09;  // 1/12!
  c = c * z - 2.75573192239858906526e-07;
  c = c * z + 2.48015873015873015873e-05;
  c = c * z - 1.38888888888888888889e-03;
  c = c * z + 4.16666666666666666667e-02;
  c = c * z - 0.5;
  c = c * z + 1.0;
  const int64_t q = static_cast<int64_t>(n) + offset;
  const double v = (q & 1) ? c : s;
  const float result = static_cast<float>((q & 2) ? -v : v);
  return x - x == 0.0f ? result : canonical_nan(x);  // infinities and NaN
}
NW_HD NW_INLINE float sin_approx(float x) { return sin_quadrant(x, 0); }
NW_HD NW_INLINE float cos_approx(float x) { return sin_quadrant(x, 1); }

/// 1 / sqrt(x): Newton's steps in double precision from the single-precision value, which are
/// faster than a square root and a division in double precision. A test compares all results with
/// these.
NW_HD NW_INLINE float rsqrt_approx(float x) {
  const float first = 1.0f / std::sqrt(x);
  const double v = static_cast<double>(x);
  double y = static_cast<double>(first);
  y += 0.5 * y * __builtin_fma(-v * y, y, 1.0);
  y += 0.5 * y * __builtin_fma(-v * y, y, 1.0);
  const float r = x == 0.0f || first == 0.0f ? first : static_cast<float>(y);
  return x < 0.0f || x != x ? canonical_nan(x) : r;
}

/// tanh(x) = (e^(2x) - 1) / (e^(2x) + 1).
NW_HD NW_INLINE float tanh_approx(float x) {
  if (x != x) return canonical_nan(x);
  const double d = static_cast<double>(x);
  if (d > 20.0) return 1.0f;
  if (d < -20.0) return -1.0f;
  if (d < 0x1p-12 && d > -0x1p-12) return x;
  // e^(2d), computed as in ex2_approx() in double precision.
  const double t = d * 2.88539008177792681472;
  const double n = round_magic(t);
  const double r = (t - n) * 0.693147180559945309417;
  double p = 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const double e = p * power_of_two(static_cast<int64_t>(n));
  return static_cast<float>((e - 1.0) / (e + 1.0));
}

}  // namespace nearwarp::exec
