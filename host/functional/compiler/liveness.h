// Liveness of virtual registers and their allocation to physical ones.
#pragma once

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// Fills live_in, live_out and Register::block_local from the blocks and instructions.
/// Returns false if the kernel is too large to analyse (hundreds of megabytes of sets).
bool compute_liveness(Kernel* kernel);

/// Fills Register::physical, num_physical and num_predicates; needs liveness.
///
/// Registers that are live at one point have different physical ones; a destination may share with
/// a source that dies at its instruction, partly too where the widths differ. The best of several
/// orders of greedy colouring is taken; the same input always gives the same result.
void allocate_registers(Kernel* kernel);

/// An allocation in which registers of different groups never share a physical one.
struct ApartAllocation {
  std::vector<uint32_t> physical;  ///< by register; kNone if it is never used
  /// By group, its number of physical registers (of 32 bits) and predicates. Registers of a group
  /// follow those of the groups before it; 64-bit values are pairs from the group's first one on.
  std::vector<uint32_t> registers, predicates;
};
/// Allocates like allocate_registers(), but does not change the kernel. `group` has the group of
/// each register, in [0, groups).
ApartAllocation allocate_apart(const Kernel& kernel, const std::vector<uint8_t>& group,
                               uint32_t groups);

/// Largest number of 32-bit registers that are live at one point: a lower bound of num_physical.
uint32_t register_pressure(const Kernel& kernel);

}  // namespace nearwarp::compiler
