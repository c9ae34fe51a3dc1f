// Visits the registers that an instruction reads and writes, and finds its operand of lanes.
#pragma once

#include "host/functional/compiler/kernel.h"

namespace nearwarp::compiler {

/// Calls f(RegId) for every register that `instr` reads: guard, sources, address. A register that
/// is read twice is visited twice.
template <typename F>
void for_each_use(const Instruction& instr, F&& f) {
  if (instr.guard != kNone) f(instr.guard);
  for (const Operand& src : instr.srcs) {
    if (src.kind == OperandKind::kRegister) f(src.reg);
  }
  if (instr.address.base != kNone) f(instr.address.base);
}

/// Calls f(RegId) for every register that `instr` writes. A guarded write leaves the old value in
/// the lanes whose guard is false, so it does not end the life of that value.
template <typename F>
void for_each_def(const Instruction& instr, F&& f) {
  for (const RegId dst : instr.dsts) {
    if (dst != kNone) f(dst);
  }
}

/// The operand with the mask of lanes that execute `instr` together; nullptr if it has none, as
/// vote and shfl without .sync.
inline const Operand* members_of(const Instruction& instr) {
  switch (instr.op) {
    case ptx::Opcode::kVote:
      return instr.srcs.size() > 1 ? &instr.srcs.back() : nullptr;
    case ptx::Opcode::kShfl:
      return instr.srcs.size() > 3 ? &instr.srcs.back() : nullptr;
    case ptx::Opcode::kBarWarp:
    case ptx::Opcode::kElect:
    case ptx::Opcode::kMatch:
    case ptx::Opcode::kRedux:
      return &instr.srcs.back();
    default:
      return nullptr;
  }
}

inline bool is_predicate(const Register& r) { return r.type == ptx::Type::kPred; }

/// Number of 32-bit physical registers for a register; 1 physical predicate for a predicate.
inline uint32_t units_of(const Register& r) { return ptx::size_of(r.type) == 8 ? 2 : 1; }

}  // namespace nearwarp::compiler
