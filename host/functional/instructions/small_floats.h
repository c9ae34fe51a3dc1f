// Conversions of floating-point formats without a register type of their own: 8-bit formats and
// tf32.
#pragma once

#include <cstdint>

#include "host/functional/instructions/codes.h"
#include "host/functional/ptx/details.h"
#include "host/functional/ptx/types.h"

namespace nearwarp::exec {

/// The exact value of an 8-bit number; infinities and NaN are those of a double.
double small_value(ptx::SmallFloat format, uint32_t bits);
/// Rounds to the nearest 8-bit number, ties to even. Values that are too large become the largest
/// finite number, and NaN becomes 0x7f. Source: PTX ISA 9.0, cvt.satfinite.
uint32_t small_bits(ptx::SmallFloat format, double value);
/// Rounds an f32 to tf32, which lacks its 13 lowest bits, and returns the bits as an f32. With
/// `saturate`, infinities become the largest finite number.
uint32_t tf32_bits(float value, ptx::Rounding rounding, bool saturate);

/// The fields of Op::imm for kConvertSmall.
struct SmallFlags {
  ptx::SmallFloatDetail detail;
  ptx::Rounding rounding;
  bool relu, saturate;
  bool from_halves;  ///< the source is one pair of halves instead of two f32

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
