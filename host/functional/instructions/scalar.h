// PTX operations on the values of one lane. Source: PTX ISA 9.0, section 9.7.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "device/core/macros.h"

namespace nearwarp::exec {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

template <class To, class From>
NW_HD NW_INLINE To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(To));
  return result;
}

// --- Integers ----------------------------------------------------------------------------------

NW_HD NW_INLINE uint32_t shl32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a << (n & 31); }
NW_HD NW_INLINE uint32_t shr_u32(uint32_t a, uint32_t n) { return n > 31 ? 0 : a >> (n & 31); }
NW_HD NW_INLINE int32_t shr_s32(int32_t a, uint32_t n) { return a >> (n > 31 ? 31 : n); }
NW_HD NW_INLINE uint64_t shl64(uint64_t a, uint64_t n) { return n > 63 ? 0 : a << (n & 63); }
NW_HD NW_INLINE uint64_t shr_u64(uint64_t a, uint64_t n) { return n > 63 ? 0 : a >> (n & 63); }
NW_HD NW_INLINE int64_t shr_s64(int64_t a, uint64_t n) { return a >> (n > 63 ? 63 : n); }

/// Quotient and remainder. For a divisor of zero, which PTX leaves open, they are all ones and the
/// dividend, as on GPUs.
template <class T>
NW_HD NW_INLINE T div_u(T a, T b) {
  return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
}
template <class T>
NW_HD NW_INLINE T rem_u(T a, T b) {
  return b == 0 ? a : static_cast<T>(a % b);
}
template <class T, class U>
NW_HD NW_INLINE T div_s(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if (b == -1) return static_cast<T>(U{0} - static_cast<U>(a));
  return static_cast<T>(a / b);
}
template <class T>
NW_HD NW_INLINE T rem_s(T a, T b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  return static_cast<T>(a % b);
}

NW_HD NW_INLINE uint64_t mulhi_u64(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<Uint128>(a) * b) >> 64);
}
NW_HD NW_INLINE int64_t mulhi_s64(int64_t a, int64_t b) {
  return static_cast<int64_t>((static_cast<Int128>(a) * b) >> 64);
}

NW_HD NW_INLINE uint32_t clz32(uint32_t a) {
  return a == 0 ? 32u : static_cast<uint32_t>(__builtin_clz(a));
}
NW_HD NW_INLINE uint32_t clz64(uint64_t a) {
  return a == 0 ? 64u : static_cast<uint32_t>(__builtin_clzll(a));
}
NW_HD NW_INLINE uint32_t brev32(uint32_t x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu);
  return x << 16 | x >> 16;
}
NW_HD NW_INLINE uint64_t brev64(uint64_t x) {
  return uint64_t{brev32(static_cast<uint32_t>(x))} << 32 | brev32(static_cast<uint32_t>(x >> 32));
}
/// Position of the most significant non-sign bit; ~0 if there is none.
NW_HD NW_INLINE uint32_t bfind_u32(uint32_t a, bool shift_amount) {
  if (a == 0) return ~0u;
  return shift_amount ? clz32(a) : 31 - clz32(a);
}
NW_HD NW_INLINE uint32_t bfind_u64(uint64_t a, bool shift_amount) {
  if (a == 0) return ~0u;
  return shift_amount ? clz64(a) : 63 - clz64(a);
}
NW_HD NW_INLINE uint32_t bfind_s32(int32_t a, bool s) {
  return bfind_u32(static_cast<uint32_t>(a < 0 ? ~a : a), s);
}
NW_HD NW_INLINE uint32_t bfind_s64(int64_t a, bool s) {
  return bfind_u64(static_cast<uint64_t>(a < 0 ? ~a : a), s);
}

/// The bit field of c & 0xff bits from bit b & 0xff on. If it is signed, upper bits are filled with
/// the field's top bit, or the operand's top bit if the field reaches beyond it.
template <class U, int kWidth>
NW_HD NW_INLINE U bfe(U a, uint32_t b, uint32_t c, bool is_signed) {
  const uint32_t pos = b & 0xff, len = c & 0xff;
  const uint32_t last = pos + len - 1 < kWidth - 1 ? pos + len - 1 : kWidth - 1;
  const bool fill = is_signed && len != 0 && ((a >> last) & 1) != 0;
  const U shifted = pos < kWidth ? static_cast<U>(a >> pos) : U{0};
  // Number of the field's bits that lie inside the operand.
  const uint32_t avail = pos < kWidth ? kWidth - pos : 0;
  const uint32_t take = len < avail ? len : avail;
  const U low = take >= kWidth ? ~U{0} : static_cast<U>((U{1} << take) - 1);
  return (shifted & low) | (fill ? static_cast<U>(~low) : U{0});
}
/// Insert the low d & 0xff bits of a into b, from bit c & 0xff on.
template <class U, int kWidth>
NW_HD NW_INLINE U bfi(U a, U b, uint32_t c, uint32_t d) {
  const uint32_t pos = c & 0xff, len = d & 0xff;
  if (pos >= kWidth || len == 0) return b;
  const U field = len >= kWidth ? ~U{0} : static_cast<U>((U{1} << len) - 1);
  return (b & ~static_cast<U>(field << pos)) | static_cast<U>((a & field) << pos);
}
NW_HD NW_INLINE uint32_t bmsk(uint32_t a, uint32_t b, bool wrap) {
  if (wrap) {
    a &= 31;
    b &= 31;
  }
  if (a >= 32 || b == 0) return 0;
  const uint32_t field = b >= 32 ? ~0u : (1u << b) - 1;
  return field << a;
}

NW_HD NW_INLINE uint32_t funnel_left(uint32_t lo, uint32_t hi, uint32_t n) {
  const uint64_t v = uint64_t{hi} << 32 | lo;
  return n >= 32 ? lo : static_cast<uint32_t>(v << n >> 32);
}
NW_HD NW_INLINE uint32_t funnel_right(uint32_t lo, uint32_t hi, uint32_t n) {
  const uint64_t v = uint64_t{hi} << 32 | lo;
  return n >= 32 ? hi : static_cast<uint32_t>(v >> n);
}

NW_HD NW_INLINE uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t lut) {
  uint32_t r = 0;
  r |= (lut & 0x01) ? ~a & ~b & ~c : 0;
  r |= (lut & 0x02) ? ~a & ~b & c : 0;
  r |= (lut & 0x04) ? ~a & b & ~c : 0;
  r |= (lut & 0x08) ? ~a & b & c : 0;
  r |= (lut & 0x10) ? a & ~b & ~c : 0;
  r |= (lut & 0x20) ? a & ~b & c : 0;
  r |= (lut & 0x40) ? a & b & ~c : 0;
  r |= (lut & 0x80) ? a & b & c : 0;
  return r;
}

/// Permutation of bytes (prmt) in its general form (mode 0) and in the modes f4e, b4e, rc8, ecl,
/// ecr and rc16 (1 to 6).
NW_HD NW_INLINE uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, int mode) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  const uint32_t s = c & 3;
  uint32_t r = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t sel = 0;
    bool sign = false;
    switch (mode) {
      case 1:
        sel = (s + i) & 7;
        break;
      case 2:
        sel = (s - i) & 7;
        break;
      case 3:
        sel = s;
        break;
      case 4:
        sel = i < s ? s : i;
        break;
      case 5:
        sel = i < s ? i : s;
        break;
      case 6:
        sel = (s & 1) * 2 + (i & 1);
        break;
      default:
        sel = c >> (4 * i) & 7;
        sign = (c >> (4 * i + 3) & 1) != 0;
    }
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * sel)) & 0xff;
    if (sign) byte = (byte & 0x80) ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}

/// Dot product of four bytes; bit 0 of `kind`: a is signed, bit 1: b is signed.
NW_HD NW_INLINE uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t kind) {
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t x = a >> (8 * i) & 0xff, y = b >> (8 * i) & 0xff;
    const int32_t sx = (kind & 1) ? static_cast<int8_t>(x) : static_cast<int32_t>(x);
    const int32_t sy = (kind & 2) ? static_cast<int8_t>(y) : static_cast<int32_t>(y);
    c += static_cast<uint32_t>(sx * sy);
  }
  return c;
}
/// Dot product of two halfwords of a with two bytes of b; bit 2 of `kind`: b's upper bytes.
NW_HD NW_INLINE uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t kind) {
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t x = a >> (16 * i) & 0xffff;
    const uint32_t y = b >> (8 * (i + ((kind & 4) ? 2 : 0))) & 0xff;
    const int32_t sx = (kind & 1) ? static_cast<int16_t>(x) : static_cast<int32_t>(x);
    const int32_t sy = (kind & 2) ? static_cast<int8_t>(y) : static_cast<int32_t>(y);
    c += static_cast<uint32_t>(sx) * static_cast<uint32_t>(sy);
  }
  return c;
}

NW_HD NW_INLINE int32_t sext24(uint32_t a) { return static_cast<int32_t>(a << 8) >> 8; }

// --- Floating point ----------------------------------------------------------------------------

NW_HD NW_INLINE float flush(float x) {
  const uint32_t b = bits_as<uint32_t>(x);
  return bits_as<float>((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}
NW_HD NW_INLINE double flush(double x) { return x; }  // .ftz is for f32 only

inline constexpr uint32_t kNan32 = 0x7fffffffu;
inline constexpr uint64_t kNan64 = 0x7ff8000000000000u;

NW_HD NW_INLINE float canonical_nan(float) { return bits_as<float>(kNan32); }
NW_HD NW_INLINE double canonical_nan(double) { return bits_as<double>(kNan64); }

/// Minimum with -0 below +0. With one NaN, the result is the other operand.
template <class T>
NW_HD NW_INLINE T float_min(T a, T b) {
  const T least = (a < b || (a == b && std::signbit(a))) ? a : b;
  const T with_nan = a != a ? b : (b != b ? a : least);
  return with_nan != with_nan ? canonical_nan(a) : with_nan;
}
template <class T>
NW_HD NW_INLINE T float_max(T a, T b) {
  const T most = (a > b || (a == b && !std::signbit(a))) ? a : b;
  const T with_nan = a != a ? b : (b != b ? a : most);
  return with_nan != with_nan ? canonical_nan(a) : with_nan;
}
/// The modifier .sat: clamps to [0, 1]; NaN becomes +0.
template <class T>
NW_HD NW_INLINE T saturate(T x) {
  return x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
}

NW_HD NW_INLINE float copysign_f(float sign, float magnitude) {
  return bits_as<float>((bits_as<uint32_t>(sign) & 0x80000000u) |
                        (bits_as<uint32_t>(magnitude) & 0x7fffffffu));
}
NW_HD NW_INLINE double copysign_f(double sign, double magnitude) {
  return bits_as<double>((bits_as<uint64_t>(sign) & (uint64_t{1} << 63)) |
                         (bits_as<uint64_t>(magnitude) & ~(uint64_t{1} << 63)));
}

// --- Conversions -------------------------------------------------------------------------------

template <class T>
NW_HD NW_INLINE T number_or_nan(T x) {
  return x != x ? canonical_nan(x) : x;
}

/// Rounds towards zero and clamps to the range. NaN becomes 0 for f32 and the least integer for f64
/// (nan_has_top_bit()).
template <class T>
NW_HD NW_INLINE int32_t truncated_s32(T x) {
  constexpr bool kIsDouble = sizeof(T) == 8;
  const T most = static_cast<T>(2147483648.0);
  const bool inside = x > -most - T{1} && x < most;
  const auto within = static_cast<int32_t>(inside ? x : T{0});
  const int32_t beyond = x < 0 || (kIsDouble && x != x) ? INT32_MIN : INT32_MAX;
  return inside || (!kIsDouble && x != x) ? within : beyond;
}
NW_HD NW_INLINE uint32_t truncated_u32(float x) {
  const bool inside = x > 0 && x < 0x1p32f, upper = x >= 0x1p31f;
  const float safe = inside ? (upper ? x - 0x1p31f : x) : 0.0f;
  const auto within = static_cast<uint32_t>(static_cast<int32_t>(safe)) + (upper ? 1u << 31 : 0);
  return x >= 0x1p32f ? ~0u : inside ? within : 0;
}

/// f16 to f32. The exponent's offset is a product, which makes subnormal numbers right as well.
NW_HD NW_INLINE float half_to_float(uint32_t h) {
  const float scaled = bits_as<float>((h & 0x7fffu) << 13) * 0x1p112f;
  const uint32_t special = (h & 0x3ffu) != 0 ? kNan32 : 0x7f800000u | (h & 0x8000u) << 16;
  const uint32_t number = bits_as<uint32_t>(scaled) | (h & 0x8000u) << 16;
  return bits_as<float>((h & 0x7c00u) == 0x7c00u ? special : number);
}
/// f32 to f16, to the nearest, ties to even.
NW_HD NW_INLINE uint32_t float_to_half(float x) {
  const uint32_t bits = bits_as<uint32_t>(x), magnitude = bits & 0x7fffffffu;
  const float v = bits_as<float>(magnitude);
  // 0.5 and subnormal halves have the same unit in the last place, so the sum is rounded correctly.
  const uint32_t subnormal = bits_as<uint32_t>(v + 0.5f) - bits_as<uint32_t>(0.5f);
  const uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
  const uint32_t finite = v < 0x1p-14f ? subnormal : normal;
  const uint32_t number = (v >= 65520.0f ? 0x7c00u : finite) | (bits >> 16 & 0x8000u);
  return x != x ? 0x7fffu : number;
}

}  // namespace nearwarp::exec
