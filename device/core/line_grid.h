// How byte addresses are divided into cache lines.
#pragma once

#include "device/core/bits.h"
#include "device/core/types.h"

namespace nearwarp {

struct LineGrid {
  uint64_t device_base = 0;  ///< address of line 0, a multiple of a line's bytes
  uint32_t line_shift = 7;   ///< log2 of a line's bytes

  NW_HD NW_INLINE LineAddr line_of(uint64_t address) const {
    return static_cast<LineAddr>((address - device_base) >> line_shift);
  }
  NW_HD NW_INLINE uint64_t address_of(LineAddr line) const {
    return device_base + (uint64_t{line} << line_shift);
  }
  /// The address's place within its line.
  NW_HD NW_INLINE uint32_t byte_of(uint64_t address) const {
    return static_cast<uint32_t>(address & low_bits(line_shift));
  }
  /// The bit of its sector of 32 bytes.
  NW_HD NW_INLINE uint32_t sector_of(uint64_t address) const {
    return 1u << (byte_of(address) >> 5);
  }
  NW_HD NW_INLINE uint32_t line_bytes() const { return 1u << line_shift; }
};

}  // namespace nearwarp
