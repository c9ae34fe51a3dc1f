// Matrix products in all other number formats: the mma that matrix_ops.h lacks, and wgmma.
#pragma once

#include "host/functional/instructions/decoded.h"

namespace nearwarp::exec {

/// Multiply and add. Sums are computed in double precision, in ascending order of k, added to c,
/// and rounded once. GPUs add in another order, and keep fewer bits in sums of 8-bit floating
/// point. Integers are exact. Returns false on a fault. Source: PTX ISA 9.0, sections 9.7.14
/// and 9.7.15.
bool warp_matrix(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask);

}  // namespace nearwarp::exec
