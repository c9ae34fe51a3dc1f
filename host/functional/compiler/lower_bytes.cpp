// Lowers instructions on bytes: mov from and to several bytes in braces, conversions of four
// numbers.
#include <string>
#include <utility>

#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::Opcode;
using ptx::Type;
using Kind = ptx::Operand::Kind;

// Expands mov.b16 and mov.b32 between a register and its bytes.
bool Lowering::expand_bytes(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands != 2) return false;
  const auto has_bytes = [&](const ptx::Operand& op) {
    return op.kind == Kind::kVector && op.count > 1 && op.count <= 4 &&
           size_of(in.mod.type) == op.count;
  };
  const auto into = [&](RegId to, Opcode op, Operand a, Operand b) {
    Instruction out = like;
    out.op = op;
    out.mod.type = Type::kB32;
    out.dsts = {to};
    out.srcs = {std::move(a), std::move(b)};
    code_.instructions.push_back(std::move(out));
  };
  if (has_bytes(ops[0])) {
    if (ops[1].kind == Kind::kVector) fail(in, "mov between two vectors");
    const Operand whole = value(frame, in, ops[1], in.mod.type);
    for (uint32_t e = 0; e < ops[0].count; ++e) {
      Instruction holder = like;
      add_destination(frame, in, frame->fn->operands[ops[0].index + e], Type::kB8, &holder);
      if (holder.dsts[0] == kNone) continue;
      const RegId moved = compute(like, Opcode::kShr, Type::kB32, {whole, constant(8 * e)});
      into(holder.dsts[0], Opcode::kAnd, of_register(moved), constant(0xff));
    }
    return true;
  }
  if (!has_bytes(ops[1])) return false;
  Operand whole = constant(0);
  for (uint32_t e = 0; e < ops[1].count; ++e) {
    const Operand byte = value(frame, in, frame->fn->operands[ops[1].index + e], Type::kB8);
    const RegId low = compute(like, Opcode::kAnd, Type::kB32, {byte, constant(0xff)});
    const RegId moved =
        compute(like, Opcode::kShl, Type::kB32, {of_register(low), constant(8 * e)});
    whole = of_register(compute(like, Opcode::kOr, Type::kB32, {whole, of_register(moved)}));
  }
  Instruction holder = like;
  add_destination(frame, in, ops[0], in.mod.type, &holder);
  if (holder.dsts[0] != kNone) into(holder.dsts[0], Opcode::kOr, whole, constant(0));
  return true;
}

// cvt.rs of four numbers: two of two. The upper two take the upper random bits, 16 of them or (of 4
// bits) 8 of either half.
void Lowering::expand_random_rounding(Frame* frame, const ptx::Instruction& in,
                                      const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (ops[1].kind != Kind::kVector || ops[1].count != 4)
    fail(in, "numbers that are no four", "{a, b, e, f}");
  const uint32_t half = size_of(in.mod.type) * 4;  // bits of two numbers
  const RegId random =
      compute(like, Opcode::kMov, Type::kB32, {value(frame, in, ops[2], Type::kB32)});
  const auto two = [&](uint32_t first, RegId bits) {
    const ptx::Operand* pair = frame->fn->operands.data() + ops[1].index + first;
    return compute(like, Opcode::kCvt, Type::kB32,
                   {value(frame, in, pair[0], Type::kF32), value(frame, in, pair[1], Type::kF32),
                    of_register(bits)},
                   in.mod);
  };
  const RegId shifted =
      compute(like, Opcode::kShr, Type::kB32, {of_register(random), constant(half)});
  const RegId upper = two(0, shifted), lower = two(2, random);
  const RegId moved = compute(like, Opcode::kShl, Type::kB32, {of_register(upper), constant(half)});
  Instruction out = like;
  add_destination(frame, in, ops[0], in.mod.type, &out);
  out.op = Opcode::kOr;
  out.mod.type = Type::kB32;
  out.srcs = {of_register(moved), of_register(lower)};
  code_.instructions.push_back(std::move(out));
}

}  // namespace nearwarp::compiler
