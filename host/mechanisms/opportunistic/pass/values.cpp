// Finds definitions and uses of registers, and registers that are the same for all threads.
#include "host/mechanisms/opportunistic/pass/values.h"

#include <algorithm>

#include "host/functional/compiler/visit.h"

namespace nearwarp::opportunistic {

namespace {

using compiler::InstrId;
using compiler::Instruction;
using compiler::Kernel;
using compiler::OperandKind;
using compiler::RegId;
using ptx::Opcode;

/// Does the instruction's value depend on nothing but its register operands, immediates, kernel
/// parameters and the launch's shape?
bool computes_uniformly(const Instruction& in) {
  if (in.guard != compiler::kNone) return false;
  if (in.op == Opcode::kLd) return in.mod.space == ptx::Space::kParam;
  switch (in.op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kFma:
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kSetp:
    case Opcode::kSelp:
    case Opcode::kMov:
    case Opcode::kCvt:
      break;
    default:
      return false;
  }
  return std::all_of(in.srcs.begin(), in.srcs.end(), [](const compiler::Operand& s) {
    return s.kind == OperandKind::kRegister || s.kind == OperandKind::kImmediate;
  });
}

}  // namespace

Values::Values(const Kernel& kernel) {
  const size_t n = kernel.registers.size();
  defs_.assign(n, 0);
  uses_.assign(n, 0);
  def_.assign(n, compiler::kNone);
  use_.assign(n, compiler::kNone);
  uniform_.assign(n, false);
  for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& in = kernel.instructions[i];
    compiler::for_each_use(in, [&](RegId r) {
      if (use_[r] == i) return;  // the instruction reads it twice
      uses_[r] += 1;
      use_[r] = i;
    });
    compiler::for_each_def(in, [&](RegId r) {
      defs_[r] += 1;
      def_[r] = i;
    });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (RegId r = 0; r < n; ++r) {
      if (uniform_[r] || defs_[r] != 1) continue;
      const Instruction& in = kernel.instructions[def_[r]];
      if (!computes_uniformly(in)) continue;
      bool all = true;
      compiler::for_each_use(in, [&](RegId s) { all = all && uniform_[s]; });
      if (!all) continue;
      uniform_[r] = true;
      changed = true;
    }
  }
}

}  // namespace nearwarp::opportunistic
