// Registers that hold the same value in all lanes of a warp, by the code.
#include "host/mechanisms/mpu/pass/scalars.h"

#include <algorithm>

namespace nearwarp::mpu {

namespace {

using compiler::Instruction;
using compiler::OperandKind;
using compiler::RegId;
using ptx::Opcode;
using ptx::SpecialReg;

/// Do the instruction's lanes compute each their own result, and from their operands alone?
bool computes(const Instruction& in) {
  switch (in.op) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kCvt:
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kFma:
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kSetp:
    case Opcode::kSelp:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
      return true;
    default:
      return false;
  }
}

bool same_in_a_warp(SpecialReg r) {
  switch (r) {
    case SpecialReg::kNtidX:
    case SpecialReg::kNtidY:
    case SpecialReg::kNtidZ:
    case SpecialReg::kCtaidX:
    case SpecialReg::kCtaidY:
    case SpecialReg::kCtaidZ:
    case SpecialReg::kNctaidX:
    case SpecialReg::kNctaidY:
    case SpecialReg::kNctaidZ:
      return true;
    default:
      return false;
  }
}

/// Given which registers are scalars, is the result one?
bool of_scalars(const Instruction& in, const std::vector<bool>& scalar) {
  if (in.guard != compiler::kNone) return false;
  const auto is_scalar = [&](RegId r) { return r == compiler::kNone || scalar[r]; };
  const bool constant_load = in.op == Opcode::kLd && (in.mod.space == ptx::Space::kParam ||
                                                      in.mod.space == ptx::Space::kConst);
  if (constant_load) return is_scalar(in.address.base);
  return computes(in) &&
         std::all_of(in.srcs.begin(), in.srcs.end(), [&](const compiler::Operand& s) {
           if (s.kind == OperandKind::kSpecial) return same_in_a_warp(s.special);
           return s.kind != OperandKind::kRegister || is_scalar(s.reg);
         });
}

}  // namespace

std::vector<bool> find_scalars(const compiler::Kernel& kernel) {
  std::vector<uint32_t> definitions(kernel.registers.size());
  for (const Instruction& in : kernel.instructions)
    for (const RegId d : in.dsts)
      if (d != compiler::kNone) definitions[d] += 1;
  std::vector<bool> scalar(kernel.registers.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& in : kernel.instructions) {
      if (!of_scalars(in, scalar)) continue;
      for (const RegId d : in.dsts) {
        if (d == compiler::kNone || definitions[d] != 1 || scalar[d]) continue;
        scalar[d] = true;
        changed = true;
      }
    }
  }
  return scalar;
}

}  // namespace nearwarp::mpu
