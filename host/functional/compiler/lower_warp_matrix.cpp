// Products by a warp, or by its part of a warp group, of numbers of any format.
//
// A product of a warp group reads and writes its registers when it is issued, which a program that
// waits for it as it has to cannot tell.
#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::Factor;
using ptx::Opcode;
using ptx::Type;
using ptx::WarpMatrixDetail;
using Kind = ptx::Operand::Kind;

void Lowering::expand_warp_matrix(Frame* frame, const ptx::Instruction& in,
                                  const Instruction& like) {
  WarpMatrixDetail d = WarpMatrixDetail::unpack(in.mod.detail);
  Instruction out = start(in);
  out.guard = like.guard;
  if (!d.of_group()) {
    operands(frame, in, &out);
    out.mod.mode = 0;
    if (d.sparse) {
      if (out.srcs.back().kind != Operand::Kind::kImmediate)
        fail(in, "a selector that is no constant");
      out.mod.mode = static_cast<uint8_t>(out.srcs.back().bits & 3);
      out.srcs.pop_back();
    }
    // In products of quads, each thread has a quarter of one of four products.
    const bool quads = d.k == 4;
    const uint32_t results =
        quads ? (d.result == WarpMatrixDetail::Result::kF16 ? 4 : 8) : d.result_registers();
    const uint32_t a = quads ? 2 : d.m * d.k * bits_of(d.a) / 1024 / (d.sparse ? 2 : 1);
    const uint32_t b = quads ? 2 : d.k * d.n * bits_of(d.b) / 1024;
    if (out.dsts.size() != results || out.srcs.size() != a + b + results + (d.sparse ? 1 : 0))
      fail(in, "fragments of other sizes",
           std::to_string(results) + ", " + std::to_string(a) + ", " + std::to_string(b) + " and " +
               std::to_string(results) + " registers");
    code_.instructions.push_back(std::move(out));
    return;
  }
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands < 4 || ops[0].kind != Kind::kVector || ops[0].count != d.result_registers())
    fail(in, "results of another size", std::to_string(d.result_registers()) + " registers");
  const auto type_of = [&](const ptx::Operand& op) {
    return op.kind == Kind::kRegister ? frame->fn->registers[op.index].type : Type::kB32;
  };
  d.a_in_memory = ops[1].kind != Kind::kVector;
  if (!d.a_in_memory && ops[1].count != 4) fail(in, "a matrix a of another size", "4 registers");
  // Signs of a and b (of floating point), then whether they are transposed (of 16 bits).
  const bool real = d.result != WarpMatrixDetail::Result::kS32;
  const bool transposes = bits_of(d.a) == 16;
  const uint32_t wanted = 4 + (real ? 2 : 0) + (transposes ? (d.a_in_memory ? 2 : 1) : 0);
  if (in.num_operands != wanted)
    fail(in, std::to_string(in.num_operands) + " operands", std::to_string(wanted));
  const auto number = [&](uint32_t i) {
    if (ops[i].kind != Kind::kInteger) fail(in, "an operand that is no constant");
    return ops[i].value;
  };
  if (real) {
    for (const uint32_t i : {4u, 5u})
      if (number(i) != 1 && number(i) != -1) fail(in, "a scale that is neither 1 nor -1");
    d.negate_a = number(4) == -1;
    d.negate_b = number(5) == -1;
  }
  if (transposes) {
    if (d.a_in_memory) d.a_column = number(6) != 0;
    d.b_column = number(wanted - 1) != 0;
  }
  Operand scale;
  if (ops[3].kind == Kind::kInteger) {
    scale = constant(ops[3].value != 0);
  } else {
    Instruction select = like;
    select.op = Opcode::kSelp;
    select.mod.type = Type::kB32;
    select.dsts = {new_register("%t", Type::kB32)};
    select.srcs = {constant(1), constant(0), value(frame, in, ops[3], Type::kPred)};
    scale = of_register(select.dsts[0]);
    code_.instructions.push_back(std::move(select));
  }
  out.srcs = {scale, value(frame, in, ops[2], Type::kB64)};
  if (d.a_in_memory) {
    out.srcs.push_back(value(frame, in, ops[1], Type::kB64));
  } else {
    for (uint32_t i = 0; i < 4; ++i) {
      const ptx::Operand& a = frame->fn->operands[ops[1].index + i];
      out.srcs.push_back(value(frame, in, a, type_of(a)));
    }
  }
  for (uint32_t i = 0; i < ops[0].count; ++i) {
    const ptx::Operand& r = frame->fn->operands[ops[0].index + i];
    add_destination(frame, in, r, type_of(r), &out);
    if (out.dsts.back() == kNone) fail(in, "'_' as a result");
    out.srcs.push_back(of_register(out.dsts.back()));
  }
  out.mod.detail = d.pack();
  code_.instructions.push_back(std::move(out));
}

// wgmma.commit_group, wgmma.wait_group
void Lowering::expand_groups(const ptx::Instruction& in, const Instruction& like,
                             const Operand& pending) {
  Instruction out = like;
  out.op = in.op;
  out.mod.type = Type::kB32;
  if (in.op == Opcode::kWgmmaWait) out.srcs = {pending};
  code_.instructions.push_back(std::move(out));
}

}  // namespace nearwarp::compiler
