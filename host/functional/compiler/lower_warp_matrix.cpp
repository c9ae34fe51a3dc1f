// Products by a warp, or by its part of a warp group, of numbers of any format.
//
// A product of a warp group reads and writes its registers when it is issued, which a program that
// waits for it as it has to cannot tell.
#include <string>

#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::Factor;
using ptx::Opcode;
using ptx::Type;
using ptx::WarpMatrixDetail;
using Kind = ptx::Operand::Kind;

namespace {

/// The selector of a sparse product, which says whose metadata count, is less than this. Source:
/// PTX ISA 9.0, mma.sp, and ptxas 13.0, which takes 2 and 3 for m16n8k32 of halves, too, where the
/// ISA gives them no meaning.
uint32_t selectors_of(const WarpMatrixDetail& d) {
  const uint32_t bits = bits_of(d.a);
  const bool short_row = d.stored_k() * bits == 128;
  return bits >= 16 ? (short_row ? 4 : 2) : (short_row ? 2 : 1);
}

/// The error in constant bytes and threads of scales, which begin at `scale`; empty: none.
/// Source: ptxas 13.0.
std::string wrong_scale(const WarpMatrixDetail& d, const Operand* scale) {
  for (const uint32_t of_b : {0u, 1u}) {
    const Operand& byte = scale[3 * of_b + 1];
    const Operand& thread = scale[3 * of_b + 2];
    const auto is_wrong = [](const Operand& op, uint64_t most, uint64_t step) {
      return op.kind == Operand::Kind::kImmediate && (op.bits > most || op.bits % step != 0);
    };
    if (is_wrong(byte, 4 - d.scales, d.scales))
      return "scales that begin at byte " + std::to_string(byte.bits);
    if (is_wrong(thread, of_b != 0 ? 3 : 1, 1))
      return "scales of thread " + std::to_string(thread.bits);
  }
  return {};
}

}  // namespace

void Lowering::expand_warp_matrix(Frame* frame, const ptx::Instruction& in,
                                  const Instruction& like) {
  WarpMatrixDetail d = WarpMatrixDetail::unpack(in.mod.detail);
  Instruction out = start(in);
  out.guard = like.guard;
  if (!d.of_group()) {
    operands(frame, in, &out);
    // In products of quads, each thread has a quarter of one of four products.
    const bool quads = d.k == 4;
    const uint32_t results =
        quads ? (d.result == WarpMatrixDetail::Result::kF16 ? 4 : 8) : d.result_registers();
    const uint32_t a = quads ? 2 : d.a_registers(), b = quads ? 2 : d.b_registers();
    const uint32_t selected = a + b + results + 1, scales = d.scales != 0 ? 6 : 0;
    if (out.dsts.size() != results ||
        out.srcs.size() != a + b + results + (d.sparse ? 2 : 0) + scales)
      fail(in, "fragments of other sizes",
           std::to_string(results) + ", " + std::to_string(a) + ", " + std::to_string(b) + " and " +
               std::to_string(results) + " registers" +
               (scales != 0 ? ", and scales with a byte and a thread" : ""));
    out.mod.mode = 0;
    if (d.sparse) {
      const auto selector = out.srcs.begin() + selected;
      if (selector->kind != Operand::Kind::kImmediate) fail(in, "a selector that is no constant");
      const uint32_t selectors = selectors_of(d);
      if (selector->bits >= selectors)
        fail(in, "a selector of " + std::to_string(selector->bits),
             selectors == 1 ? "0" : "0 to " + std::to_string(selectors - 1));
      out.mod.mode = static_cast<uint8_t>(selector->bits);
      out.srcs.erase(selector);
    }
    if (d.scales != 0) {
      const std::string wrong =
          wrong_scale(d, out.srcs.data() + a + b + results + (d.sparse ? 1 : 0));
      if (!wrong.empty())
        fail(in, wrong,
             std::string("byte ") +
                 (d.scales == 1   ? "0 to 3"
                  : d.scales == 2 ? "0 or 2"
                                  : "0") +
                 ", thread 0 or 1 of a, 0 to 3 of b");
    }
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
  const auto number = [&](uint32_t i) {
    if (ops[i].kind != Kind::kInteger) fail(in, "an operand that is no constant");
    return ops[i].value;
  };
  // Where a's numbers are, and which threads say so; whether to add; signs of a and b (of floating
  // point); whether they are transposed (of 16 bits).
  const bool real = d.result != WarpMatrixDetail::Result::kS32;
  const bool transposes = bits_of(d.a) == 16;
  const uint32_t adds = d.sparse ? 5 : 3;
  const uint32_t wanted = adds + 1 + (real ? 2 : 0) + (transposes ? (d.a_in_memory ? 2 : 1) : 0);
  if (in.num_operands != wanted)
    fail(in, std::to_string(in.num_operands) + " operands", std::to_string(wanted));
  out.mod.mode = 0;
  if (d.sparse) {
    const auto most = bits_of(d.a) == 8 ? 0 : 1;
    if (number(4) < 0 || number(4) > most)
      fail(in, "a selector of " + std::to_string(number(4)), most == 0 ? "0" : "0 or 1");
    out.mod.mode = static_cast<uint8_t>(number(4));
  }
  if (real) {
    for (const uint32_t i : {adds + 1, adds + 2})
      if (number(i) != 1 && number(i) != -1) fail(in, "a scale that is neither 1 nor -1");
    d.negate_a = number(adds + 1) == -1;
    d.negate_b = number(adds + 2) == -1;
  }
  if (transposes) {
    if (d.a_in_memory) d.a_column = number(adds + 3) != 0;
    d.b_column = number(wanted - 1) != 0;
  }
  Operand scale;
  if (ops[adds].kind == Kind::kInteger) {
    scale = constant(ops[adds].value != 0);
  } else {
    Instruction select = like;
    select.op = Opcode::kSelp;
    select.mod.type = Type::kB32;
    select.dsts = {new_register("%t", Type::kB32)};
    select.srcs = {constant(1), constant(0), value(frame, in, ops[adds], Type::kPred)};
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
  if (d.sparse) out.srcs.push_back(value(frame, in, ops[3], Type::kB32));
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
