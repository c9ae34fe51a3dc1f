// Floating-point operations with explicit rounding modes, and all conversions.
#pragma once

#include <cstdint>

#include "host/functional/instructions/codes.h"

namespace nearwarp::exec {

/// Executes kFloatRounded: add, sub, mul, fma, div, rcp or sqrt of f32 or f64 in any rounding mode,
/// with .ftz and .sat.
void float_rounded(uint8_t* rows, const Op& op, uint32_t mask);

/// Executes kConvert: cvt between any two number formats.
void convert(uint8_t* rows, const Op& op, uint32_t mask);

/// Converts the value of one lane for kConvert. `bits` holds the source in its low bits; the result
/// is extended to the destination register's width.
uint64_t convert_value(const ConvertFlags& flags, uint64_t bits);

}  // namespace nearwarp::exec
