// Conversions of all lanes of a warp at once.
#pragma once

#include "host/functional/instructions/codes.h"

namespace nearwarp::exec {

/// kConvert for the lanes of `mask`, with results as convert_value() has them. Returns false, and
/// does nothing, where there is no way but lane by lane: f16 on a host that cannot convert it, and
/// rounding to nearest with ties away from zero, which no conversion of this kind has.
bool convert_rows(uint8_t* rows, const Op& op, uint32_t mask);

/// Converts all lanes of one row of 32 bits, to formats of at most 32 bits.
bool converted(const uint32_t* from, const ConvertFlags& f, uint32_t (&to)[kLanes]);

}  // namespace nearwarp::exec
