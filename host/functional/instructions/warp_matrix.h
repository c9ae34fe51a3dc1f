// Products of matrices of numbers of any format: mma beyond matrix_ops.h, and wgmma.
#pragma once

#include "host/functional/instructions/decoded.h"

namespace nearwarp::exec {

/// Multiply and add (PTX ISA 9.0, sections 9.7.14 and 9.7.15). Sums are formed in double precision,
/// in ascending order of k, added to c, and rounded once: hardware's order is its own, and its sums
/// of 8-bit floating point keep fewer bits. Integers are exact. False on a fault.
bool warp_matrix(Context& ctx, Warp& warp, const ExtendedDesc& desc, uint32_t mask);

}  // namespace nearwarp::exec
