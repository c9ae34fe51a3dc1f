// Products of warp groups, whose registers and factors are theirs until they are waited for.
#pragma once

#include "host/functional/compiler/kernel.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

/// Is this a product of a warp group (wgmma.mma_async)?
inline bool is_group_product(const Instruction& instr) {
  return instr.op == ptx::Opcode::kWarpMma &&
         ptx::WarpMatrixDetail::unpack(instr.mod.detail).of_group();
}

/// Calls f(RegId) for every register with factors of a product of a warp group: a's, unless it lies
/// in shared memory. Sources are whether to add, where b lies, a, the results.
template <typename F>
void for_each_factor(const Instruction& product, F&& f) {
  if (ptx::WarpMatrixDetail::unpack(product.mod.detail).a_in_memory) return;
  for (uint32_t i = 2; i < 6; ++i)
    if (product.srcs[i].kind == OperandKind::kRegister) f(product.srcs[i].reg);
}

}  // namespace nearwarp::compiler
