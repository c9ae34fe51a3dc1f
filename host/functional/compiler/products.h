// Matrix products of warpgroups, which use their registers until a warp has waited for them.
#pragma once

#include "host/functional/compiler/kernel.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

/// Is this a product of a warpgroup (wgmma.mma_async)?
inline bool is_group_product(const Instruction& instr) {
  return instr.op == ptx::Opcode::kWarpMma &&
         ptx::WarpMatrixDetail::unpack(instr.mod.detail).of_group();
}

/// Calls f(RegId) for every register with factors of a warpgroup's product: those of matrix A,
/// unless it lies in shared memory. The sources are the predicate of addition, B's descriptor, A,
/// the results.
template <typename F>
void for_each_factor(const Instruction& product, F&& f) {
  if (ptx::WarpMatrixDetail::unpack(product.mod.detail).a_in_memory) return;
  for (uint32_t i = 2; i < 6; ++i)
    if (product.srcs[i].kind == OperandKind::kRegister) f(product.srcs[i].reg);
}

}  // namespace nearwarp::compiler
