// Words of bits: what compilers have instructions for, under names that say what is found.
#pragma once

#include <cstdint>

#include "device/core/macros.h"

namespace nearwarp {

NW_HD inline uint32_t count_trailing_zeros(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffsll(static_cast<long long>(bits)) - 1);
#else
  return static_cast<uint32_t>(__builtin_ctzll(bits));
#endif
}
NW_HD inline uint32_t count_leading_zeros(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__clzll(static_cast<long long>(bits)));
#else
  return static_cast<uint32_t>(__builtin_clzll(bits));
#endif
}
NW_HD inline uint32_t population_count(uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popcll(bits));
#else
  return static_cast<uint32_t>(__builtin_popcountll(bits));
#endif
}
/// The lowest `n` bits set, n in [0, 64].
NW_HD constexpr uint64_t low_bits(uint32_t n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// The lowest n bits in 32, n in [0, 32].
NW_HD constexpr uint32_t low_bits32(uint32_t n) {
  return static_cast<uint32_t>((uint64_t{1} << n) - 1);
}
/// Are two bits set, or more?
NW_HD constexpr bool has_several(uint64_t bits) { return (bits & (bits - 1)) != 0; }

}  // namespace nearwarp
