// Matrix products of a warp: mma and wmma.mma.
#pragma once

#include "host/functional/instructions/decoded.h"

namespace nearwarp::exec {

/// Multiply and add the matrices in the warp's registers. Sums of half, bfloat16 and tf32 products
/// are computed in double precision and rounded once, which PTX allows, since it leaves their order
/// and precision open; double precision uses fma in ascending order of k. Source: PTX ISA 9.0,
/// section 9.7.15.
void matrix(Warp& warp, const ExtendedDesc& desc, uint32_t mask);

}  // namespace nearwarp::exec
