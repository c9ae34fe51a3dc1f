// Numbers smaller than registers have types for: 8-bit floating point and tf32.
#pragma once

#include <cstdint>

#include "host/functional/instructions/codes.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {

/// The value of an 8-bit number, exactly; infinities and NaN as IEEE 754 has them.
double small_value(ptx::SmallFloat format, uint32_t bits);
/// Round to the nearest 8-bit number, ties to even; what is too large becomes the largest finite
/// one, NaN becomes 0x7f. Source: PTX ISA 9.0, cvt.satfinite.
uint32_t small_bits(ptx::SmallFloat format, double value);
/// The bits of an f32 with the 13 lowest ones rounded off; `saturate`: infinities become the
/// largest finite number.
uint32_t tf32_bits(float value, ptx::Rounding rounding, bool saturate);

/// imm of kConvertSmall.
struct SmallFlags {
  ptx::SmallFloatDetail detail;
  ptx::Rounding rounding;
  bool relu, saturate;
  bool from_halves;  ///< one source of two halves, rather than two of f32

  static SmallFlags unpack(int32_t imm) {
    const auto v = static_cast<uint32_t>(imm);
    return {ptx::SmallFloatDetail::unpack(v & 0xff), static_cast<ptx::Rounding>(v >> 8 & 15),
            (v >> 12 & 1) != 0, (v >> 13 & 1) != 0, (v >> 14 & 1) != 0};
  }
  int32_t pack() const {
    return static_cast<int32_t>(detail.pack() | static_cast<uint32_t>(rounding) << 8 |
                                uint32_t{relu} << 12 | uint32_t{saturate} << 13 |
                                uint32_t{from_halves} << 14);
  }
};

void convert_small(uint8_t* rows, const Op& op, uint32_t mask);

}  // namespace nearwarp::exec
