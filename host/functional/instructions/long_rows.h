// Integers of 64 bits as f32, all lanes of a warp at once. Below AVX-512 no instruction converts
// several of them. Mostly they have 32 bits that count, as indices and numbers of things do; else
// their halves are put into the digits of numbers in f64, whose sum is exact, and that is rounded
// once.
#pragma once

#include <cstdint>

#include "host/functional/instructions/lanes.h"
#include "host/functional/instructions/scalar.h"

namespace nearwarp::exec {

/// An integer that f64 has: of up to 53 digits.
template <bool kSigned>
NW_HD NW_INLINE double exact_double(uint64_t x) {
  // 2^52 + the lower half, and 2^84 + 2^32 times the upper one, which is moved up by 2^31 where it
  // has a sign.
  const auto lower = bits_as<double>((x & 0xffffffff) | 0x4330000000000000);
  const auto upper =
      bits_as<double>((x >> 32) ^ (kSigned ? 0x4530000080000000 : 0x4530000000000000));
  constexpr double kMoved = 0x1p84 + 0x1p52 + (kSigned ? 0x1p63 : 0.0);
  return (upper - kMoved) + lower;
}

/// An integer that f64 has and that f32 rounds as it rounds `x`: beyond 53 digits the last eleven,
/// of which f32 keeps none, are one, in the place above them, if any is there.
template <bool kSigned>
NW_HD NW_INLINE uint64_t with_fewer_digits(uint64_t x) {
  constexpr uint64_t kLast = 0x7ff;
  const uint64_t fewer = (x & ~kLast) | (((x & kLast) + kLast) & (kLast + 1));
  return (kSigned ? (x + (uint64_t{1} << 53)) >> 54 : x >> 53) == 0 ? x : fewer;
}

/// Converts integers of 64 bits to the nearest f32.
template <bool kSigned>
NW_HD NW_INLINE void floats_of_longs(const uint64_t* from, float* to) {
  // An int has it if nothing is above its digits, or above them and the sign.
  constexpr uint64_t kMoved = kSigned ? uint64_t{1} << 31 : 0;
  constexpr int kDigits = kSigned ? 32 : 31;
  uint64_t moved = 0;
  for (uint32_t i = 0; i < kLanes; ++i) moved |= from[i] + kMoved;
  if (moved >> kDigits == 0) {
#pragma GCC ivdep
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = static_cast<float>(static_cast<int32_t>(from[i]));
    return;
  }
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i)
    to[i] = static_cast<float>(exact_double<kSigned>(with_fewer_digits<kSigned>(from[i])));
}

/// The conversion as an operation on rows, for lanes of `mask`.
template <bool kSigned>
NW_HD NW_INLINE void convert_longs(uint8_t* rows, const Op& op) {
  floats_of_longs<kSigned>(row<uint64_t>(rows, op.a), row<float>(rows, op.d));
}
template <bool kSigned>
NW_HD NW_INLINE void convert_longs_masked(uint8_t* rows, const Op& op, uint32_t mask) {
  alignas(32) float all[kLanes];
  floats_of_longs<kSigned>(row<uint64_t>(rows, op.a), all);
  float* d = row<float>(rows, op.d);
#pragma GCC ivdep
  for (uint32_t i = 0; i < kLanes; ++i) d[i] = lane_in<float>(mask, i) ? all[i] : d[i];
}

}  // namespace nearwarp::exec
