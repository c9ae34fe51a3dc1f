// Facts on single instructions and registers that the candidate selection needs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/functional/compiler/kernel.h"
#include "host/mechanisms/tom/pass/candidates.h"

namespace nearwarp::compiler {

/// Why an instruction may be in no candidate (TOM, section 3.1.4); nothing if it may.
/// `kernel_uses_shared`: a generic access could then go to shared memory.
std::optional<RefusalReason> forbidden(const Instruction& instruction, bool kernel_uses_shared);

/// True if any instruction of the kernel names shared memory.
bool uses_shared_memory(const Kernel& kernel);

/// True for bra, brx, ret, exit and trap.
bool is_control(const Instruction& instruction);

/// Registers that an instruction reads: guard, sources, address.
std::vector<RegId> uses(const Instruction& instruction);
/// Registers that it writes.
std::vector<RegId> defs(const Instruction& instruction);
/// Special registers that travel with an offload: those that tell where a warp is in its grid.
std::vector<ptx::SpecialReg> special_uses(const Instruction& instruction);

/// Bytes per lane that a set of registers takes in a packet: predicates packed in one word.
uint32_t packed_bytes(const Kernel& kernel, const std::vector<RegId>& registers);

/// Block of every instruction.
std::vector<BlockId> block_of_instructions(const Kernel& kernel);

/// True if `a` dominates `b`.
bool dominates(const Kernel& kernel, BlockId a, BlockId b);

}  // namespace nearwarp::compiler
