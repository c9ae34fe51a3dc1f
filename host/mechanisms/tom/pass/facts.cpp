// Properties of single instructions and registers that TOM's pass asks for.
#include "host/mechanisms/tom/pass/facts.h"

#include <algorithm>

#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::Opcode;
using ptx::Space;

namespace {

bool is_load(const Instruction& i) { return i.op == Opcode::kLd || i.op == Opcode::kLdu; }

bool counted_space(Space space) {
  return space == Space::kGlobal || space == Space::kLocal || space == Space::kGeneric ||
         space == Space::kNone;  // ld and st without a space are generic
}

bool is_generic(Space space) { return space == Space::kGeneric || space == Space::kNone; }

}  // namespace

bool is_counted_load(const Instruction& instruction) {
  return is_load(instruction) && counted_space(instruction.mod.space);
}

bool is_counted_store(const Instruction& instruction) {
  return instruction.op == Opcode::kSt && counted_space(instruction.mod.space);
}

std::optional<RefusalReason> forbidden(const Instruction& i, bool kernel_uses_shared) {
  switch (i.op) {
    case Opcode::kAtom:
    case Opcode::kRed:
      return RefusalReason::kAtomic;
    case Opcode::kBar:
    case Opcode::kBarRed:
    case Opcode::kBarWarp:
    case Opcode::kMembar:
    case Opcode::kPhaseWait:
    case Opcode::kWgmmaCommit:
    case Opcode::kWgmmaWait:
    case Opcode::kSystem:  // only the main GPU has the device runtime
      return RefusalReason::kBarrier;
    case Opcode::kNop:  // a group of asynchronous copies belongs to the warp that issued them
      if (i.mod.detail != static_cast<uint32_t>(ptx::CopyGroup::kNone))
        return RefusalReason::kBarrier;
      return std::nullopt;
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
      // Returns of inlined functions have become branches, so this ends the thread.
      return RefusalReason::kDivergentExit;
    case Opcode::kTensorLoad:
    case Opcode::kTensorStore:
    case Opcode::kTensorReduce:
      return RefusalReason::kSharedMemory;
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
      if (i.mod.space == Space::kShared) return RefusalReason::kSharedMemory;
      if (kernel_uses_shared && is_generic(i.mod.space)) return RefusalReason::kSharedMemory;
      if (i.mod.ordered) return RefusalReason::kBarrier;  // acquire and release synchronise
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool uses_shared_memory(const Kernel& kernel) {
  return std::any_of(kernel.symbols.begin(), kernel.symbols.end(),
                     [](const Symbol& s) { return s.space == Space::kShared; }) ||
         std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                     [](const Instruction& i) { return i.mod.space == Space::kShared; });
}

bool is_control(const Instruction& i) {
  return i.op == Opcode::kBra || i.op == Opcode::kBrx || i.op == Opcode::kRet ||
         i.op == Opcode::kExit || i.op == Opcode::kTrap || i.op == Opcode::kCall;
}

std::vector<RegId> uses(const Instruction& instruction) {
  std::vector<RegId> result;
  if (instruction.guard != kNone) result.push_back(instruction.guard);
  for (const Operand& operand : instruction.srcs) {
    if (operand.kind == Operand::Kind::kRegister) result.push_back(operand.reg);
  }
  if (instruction.address.base != kNone) result.push_back(instruction.address.base);
  return result;
}

std::vector<RegId> defs(const Instruction& instruction) {
  std::vector<RegId> result;
  for (RegId reg : instruction.dsts) {
    if (reg != kNone) result.push_back(reg);
  }
  return result;
}

std::vector<ptx::SpecialReg> special_uses(const Instruction& instruction) {
  std::vector<ptx::SpecialReg> result;
  for (const Operand& operand : instruction.srcs) {
    if (operand.kind != Operand::Kind::kSpecial) continue;
    if (operand.special <= ptx::SpecialReg::kNctaidZ) result.push_back(operand.special);
  }
  return result;
}

uint32_t packed_bytes(const Kernel& kernel, const std::vector<RegId>& registers) {
  uint32_t bytes = 0;
  bool predicates = false;
  for (RegId reg : registers) {
    const ptx::Type type = kernel.registers[reg].type;
    if (type == ptx::Type::kPred) {
      predicates = true;
    } else {
      bytes += std::max(4u, ptx::size_of(type));
    }
  }
  return bytes + (predicates ? 4 : 0);
}

std::vector<BlockId> block_of_instructions(const Kernel& kernel) {
  std::vector<BlockId> result(kernel.instructions.size(), kNone);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b) {
    const Block& block = kernel.blocks[b];
    std::fill_n(result.begin() + block.first, block.count, b);
  }
  return result;
}

bool dominates(const Kernel& kernel, BlockId a, BlockId b) {
  while (b != kNone && b != a) b = kernel.blocks[b].idom;
  return b == a;
}

}  // namespace nearwarp::compiler
