// Conversions of all lanes of a warp at once.
#pragma once

#include "host/functional/instructions/codes.h"

namespace nearwarp::exec {

/// kConvert for the lanes of `mask`, with results as convert_value() has them. Returns false, and
/// does nothing, where there is no way but lane by lane: roundings other than to nearest of f64 to
/// f32 and of integers, of f64 to f16 and bf16, up and down to bf16, of large integers to bf16.
bool convert_rows(uint8_t* rows, const Op& op, uint32_t mask);

}  // namespace nearwarp::exec
