// 128-bit values: pairs of 64-bit registers, the low one first. Accesses of 32 bytes: two of 16.
// Pairs of .f32: one by one.
#include <algorithm>

#include "host/functional/compiler/lower.h"

namespace nearwarp::compiler {

using ptx::Opcode;
using ptx::Type;
using Kind = ptx::Operand::Kind;

std::pair<RegId, RegId> Lowering::halves(Frame* frame, const ptx::Instruction& in,
                                         const ptx::Operand& op) {
  if (op.kind == Kind::kBlank) return {kNone, kNone};
  if (op.kind != Kind::kRegister || frame->fn->registers[op.index].type != Type::kB128)
    fail(in, "an operand that is no 128-bit register", "a .b128 register");
  const auto [it, is_new] = halves_.try_emplace(reg(frame, op.index));
  if (is_new) it->second = {new_register("%low", Type::kB64), new_register("%high", Type::kB64)};
  return it->second;
}

// ld, st, mov, atom of .b128.
void Lowering::expand_wide(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  if (in.mod.vector > 1) refuse(in, "a vector of 128-bit values");
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  Instruction out = like;
  out.op = in.op;
  out.mod = in.mod;
  out.mod.type = Type::kB64;
  out.mod.vector = 2;
  const auto add_source = [&](const ptx::Operand& op) {
    const auto [low, high] = halves(frame, in, op);
    if (low == kNone) fail(in, "'_' as a source");
    out.srcs.push_back(of_register(low));
    out.srcs.push_back(of_register(high));
  };
  const auto set_destination = [&](const ptx::Operand& op) {
    const auto [low, high] = halves(frame, in, op);
    out.dsts = {low, high};
  };
  switch (in.op) {
    case Opcode::kLd:
      if (in.num_operands < 2) fail(in, "too few operands");
      set_destination(ops[0]);
      address(frame, in, ops[1], &out);
      break;
    case Opcode::kSt:
      if (in.num_operands < 2) fail(in, "too few operands");
      address(frame, in, ops[0], &out);
      add_source(ops[1]);
      break;
    case Opcode::kAtom: {
      const bool swaps = in.mod.atomic == ptx::AtomicOp::kExch;
      if (!swaps && in.mod.atomic != ptx::AtomicOp::kCas)
        fail(in, "this 128-bit atomic operation", ".exch or .cas");
      if (in.num_operands < (swaps ? 3u : 4u)) fail(in, "too few operands");
      set_destination(ops[0]);
      address(frame, in, ops[1], &out);
      add_source(ops[2]);
      if (!swaps) add_source(ops[3]);
      break;
    }
    case Opcode::kMov: {
      if (in.num_operands != 2) fail(in, "too few operands");
      const auto pair = [&](const ptx::Operand& op) {
        return op.kind == Kind::kVector && op.count == 2 ? frame->fn->operands.data() + op.index
                                                         : nullptr;
      };
      Instruction moves[2] = {like, like};
      for (Instruction& move : moves) {
        move.op = Opcode::kMov;
        move.mod = {};
        move.mod.type = Type::kB64;
      }
      if (const ptx::Operand* elements = pair(ops[1])) {
        for (uint32_t i = 0; i < 2; ++i)
          moves[i].srcs = {value(frame, in, elements[i], Type::kB64)};
      } else {
        add_source(ops[1]);
        for (uint32_t i = 0; i < 2; ++i) moves[i].srcs = {out.srcs[i]};
      }
      if (const ptx::Operand* elements = pair(ops[0])) {
        for (uint32_t i = 0; i < 2; ++i)
          add_destination(frame, in, elements[i], Type::kB64, &moves[i]);
      } else {
        set_destination(ops[0]);
        for (uint32_t i = 0; i < 2; ++i) moves[i].dsts = {out.dsts[i]};
      }
      for (Instruction& move : moves)
        if (move.dsts.at(0) != kNone) code_.instructions.push_back(std::move(move));
      return;
    }
    default:
      refuse(in, "this 128-bit instruction");
  }
  code_.instructions.push_back(std::move(out));
}

// add, sub, mul, fma of .f32x2: two of .f32.
void Lowering::expand_pairs(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands != (in.op == Opcode::kFma ? 4u : 3u))
    fail(in, "too many or too few operands");
  Instruction move = like;
  move.op = Opcode::kMov;
  move.mod.type = Type::kB64;
  std::vector<Operand> low, high;
  for (uint32_t i = 1; i < in.num_operands; ++i) {
    const Operand pair = value(frame, in, ops[i], Type::kB64);
    if (pair.kind == Operand::Kind::kImmediate) {
      low.push_back(constant(pair.bits & 0xffffffff));
      high.push_back(constant(pair.bits >> 32));
      continue;
    }
    Instruction take = move;
    take.dsts = {new_register("%low", Type::kB32), new_register("%high", Type::kB32)};
    take.srcs = {pair};
    low.push_back(of_register(take.dsts[0]));
    high.push_back(of_register(take.dsts[1]));
    code_.instructions.push_back(std::move(take));
  }
  ptx::Modifiers mod = in.mod;
  mod.pairs = false;
  const RegId first = compute(like, in.op, Type::kF32, std::move(low), mod),
              second = compute(like, in.op, Type::kF32, std::move(high), mod);
  add_destination(frame, in, ops[0], Type::kB64, &move);
  move.srcs = {of_register(first), of_register(second)};
  code_.instructions.push_back(std::move(move));
}

// ld and st of 32 bytes: two of 16.
void Lowering::split_access(Instruction access) {
  Instruction high = access;
  for (Instruction* half : {&access, &high}) half->mod.vector /= 2;
  high.address.offset += 16;
  const auto share = [](auto* low, auto* rest) {
    const auto middle = static_cast<std::ptrdiff_t>(rest->size() / 2);
    low->resize(rest->size() / 2);
    rest->erase(rest->begin(), rest->begin() + middle);
  };
  share(&access.dsts, &high.dsts);
  share(&access.srcs, &high.srcs);
  // The half that overwrites the address comes last.
  const auto& first = access.dsts;
  if (std::find(first.begin(), first.end(), access.address.base) != first.end())
    std::swap(access, high);
  code_.instructions.push_back(std::move(access));
  code_.instructions.push_back(std::move(high));
}

}  // namespace nearwarp::compiler
