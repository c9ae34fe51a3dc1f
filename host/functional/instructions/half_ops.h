// Arithmetic on f16 and bf16.
#pragma once

#include <cstdint>

#include "host/functional/instructions/codes.h"

namespace nearwarp::exec {

/// The exact value of a half.
double half_value(uint32_t bits, bool bf16);
/// Rounds a value to a half and returns its bits.
uint32_t half_bits(double value, bool bf16, Round round);

/// The result of kHalf for one element; `a`, `b` and `c` have 16 bits each.
uint32_t half_arithmetic(const HalfFlags& f, uint32_t a, uint32_t b, uint32_t c);

void half(uint8_t* rows, const Op& op, uint32_t mask);
void half_compare(Warp& warp, const Op& op, uint32_t mask);
void convert_pair(uint8_t* rows, const Op& op, uint32_t mask);

/// The result of kVideo for one lane.
uint32_t video(uint32_t detail, uint32_t a, uint32_t b, uint32_t c);
uint32_t szext(uint32_t a, uint32_t b, int32_t flags);
uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset);

}  // namespace nearwarp::exec
