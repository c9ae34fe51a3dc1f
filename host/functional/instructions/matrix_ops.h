// mma and wmma.mma.
#pragma once

#include "host/functional/instructions/decoded.h"

namespace nearwarp::exec {

/// Multiply and add the matrices that the warp's registers hold (PTX ISA 9.0, section 9.7.15).
/// Sums of half, bfloat16 and tf32 products are formed in double precision and rounded once, which
/// is one of the orders that PTX leaves open; double precision uses fma in ascending order of k.
void matrix(Warp& warp, const ExtendedDesc& desc, uint32_t mask);

}  // namespace nearwarp::exec
