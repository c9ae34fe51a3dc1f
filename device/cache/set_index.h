// Which set of a cache a line belongs to.
#pragma once

#include "device/core/types.h"

namespace nearwarp::cache {

enum class SetFunction : uint8_t {
  kLinear,  ///< the lowest bits of the line's number
  kXor,     ///< these, exclusive-or as many bits above them
  /// Of 32 or 64 sets of a Fermi L1 [Nugteren et al., "A Detailed GPU Cache Model Based on Reuse
  /// Distance Theory", HPCA 2014]: bits 7 to 11 of the address exclusive-or bits 13, 14, 15, 17 and
  /// 19, for lines of 128 bytes; with 64 sets, bit 12 is the highest bit.
  kFermi,
};

struct SetIndex {
  uint32_t sets = 64;  ///< power of two
  uint32_t bits = 6;   ///< log2 of it
  SetFunction function = SetFunction::kLinear;

  NW_HD NW_INLINE uint32_t of(LineAddr line) const {
    if (function == SetFunction::kLinear) return line & (sets - 1);
    if (function == SetFunction::kXor) return (line ^ line >> bits) & (sets - 1);
    // Bits of the line's number are those of the address less 7.
    const uint32_t upper = (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4;
    return ((line & 31) ^ upper) | (line & 32 & (sets - 1));
  }
};

}  // namespace nearwarp::cache
