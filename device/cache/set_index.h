// Which set of a cache a line belongs to.
#pragma once

#include "device/core/address_map.h"
#include "device/core/types.h"

namespace nearwarp::cache {

enum class SetFunction : uint8_t {
  kLinear,  ///< the lowest bits of the line's number
  kXor,     ///< these, exclusive-or as many bits above them
  /// The function of a Fermi L1 with 32 or 64 sets [Nugteren et al., "A Detailed GPU Cache Model
  /// Based on Reuse Distance Theory", HPCA 2014]: bits 7 to 11 of the address exclusive-or bits 13,
  /// 14, 15, 17 and 19, for lines of 128 bytes; with 64 sets, bit 12 is the highest bit.
  kFermi,
  kFolded,  ///< all bits of the line's number, exclusive-or in pieces as long as the set's
  /// The remainder of the line's number by an irreducible polynomial over GF(2) [Rau,
  /// "Pseudo-randomly interleaved memory", ISCA 1991]: no stride of a power of two has conflicts.
  kPolynomial,
};

struct SetIndex {
  uint32_t sets = 64;  ///< power of two
  uint32_t bits = 6;   ///< log2 of it
  SetFunction function = SetFunction::kLinear;
  uint32_t polynomial = 0;  ///< of kPolynomial, without its highest term, that of `bits`

  NW_HD NW_INLINE uint32_t of(LineAddr line) const {
    if (function == SetFunction::kLinear) return line & (sets - 1);
    if (function == SetFunction::kXor) return (line ^ line >> bits) & (sets - 1);
    if (function != SetFunction::kFermi) return of_all_bits(line);
    // Bits of the line's number are those of the address less 7.
    const uint32_t upper = (line >> 6 & 7) | (line >> 10 & 1) << 3 | (line >> 12 & 1) << 4;
    return ((line & 31) ^ upper) | (line & 32 & (sets - 1));
  }

  NW_HD NW_APART uint32_t of_all_bits(LineAddr line) const {
    if (function == SetFunction::kFolded) return AddressMap::fold(line, bits);
    // x^bits is the same as the rest of the polynomial: put that in its place, and so for all that
    // stands above.
    while (line >> bits != 0) {
      const uint32_t above = line >> bits;
      line &= sets - 1;
      for (uint32_t p = polynomial; p != 0; p &= p - 1) line ^= above << count_trailing_zeros(p);
    }
    return line;
  }
};

}  // namespace nearwarp::cache
