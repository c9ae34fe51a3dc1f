// Conversions that limit what they convert: to finite halves, and pairs of integers beside each
// other.
//
// On a GPU each is one machine instruction, so of those here all but one are implied.
#include "host/functional/compiler/lower.h"
#include "host/functional/ptx/convert_details.h"

namespace nearwarp::compiler {

using ptx::Opcode;
using ptx::Type;

/// The largest finite number, and its negative, stand for f32 sources beyond them; NaN stays.
void Lowering::limit_sources(Instruction* out) {
  constexpr uint64_t kSign = 0x80000000, kLargestF16 = 0x477fe000, kLargestBF16 = 0x7f7f0000;
  const bool f16 = out->mod.type == Type::kF16 || out->mod.type == Type::kF16x2;
  const uint64_t largest = f16 ? kLargestF16 : kLargestBF16;
  Instruction part = implied(*out);
  part.mod = {};
  part.dsts.clear();
  part.srcs.clear();
  ptx::Modifiers keeps;
  keeps.relu_nan = true;
  for (Operand& source : out->srcs) {
    const RegId above =
        compute(part, Opcode::kMax, Type::kF32, {source, constant(largest | kSign)}, keeps);
    source = of_register(
        compute(part, Opcode::kMin, Type::kF32, {of_register(above), constant(largest)}, keeps));
  }
  out->mod.mode = 0;
}

// cvt.pack d, a, b{, c}: b lowest, a above it, and c, as much of it as has room, above that.
void Lowering::expand_pack(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  const ptx::PackDetail detail = ptx::PackDetail::unpack(in.mod.detail);
  const Instruction part = implied(like);
  Instruction out = like;
  operands(frame, in, &out);
  const uint64_t mask = (uint64_t{1} << detail.bits) - 1;
  const uint64_t least = detail.is_signed ? uint32_t{0} - (uint64_t{1} << (detail.bits - 1)) : 0;
  const uint64_t most = detail.is_signed ? mask >> 1 : mask;
  const auto limited = [&](const Operand& source) {
    const RegId above =
        compute(part, Opcode::kMax, Type::kS32, {source, constant(least & 0xffffffff)});
    const RegId within =
        compute(part, Opcode::kMin, Type::kS32, {of_register(above), constant(most)});
    return of_register(
        compute(part, Opcode::kAnd, Type::kB32, {of_register(within), constant(mask)}));
  };
  const auto moved = [&](const Operand& source, uint32_t bits) {
    return of_register(compute(part, Opcode::kShl, Type::kB32, {source, constant(bits)}));
  };
  const Operand lower = limited(out.srcs.at(1)), upper = limited(out.srcs.at(0));
  Operand above = moved(upper, detail.bits);
  if (detail.bits < 16)
    above = of_register(
        compute(part, Opcode::kOr, Type::kB32, {above, moved(out.srcs.at(2), 2u * detail.bits)}));
  out.op = Opcode::kOr;
  out.mod = {};
  out.mod.type = Type::kB32;
  out.srcs = {lower, above};
  code_.instructions.push_back(std::move(out));
}

}  // namespace nearwarp::compiler
