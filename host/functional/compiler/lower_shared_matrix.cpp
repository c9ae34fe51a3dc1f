// ldmatrix and stmatrix: accesses to shared memory whose lanes share rows; of bytes, and movmatrix,
// as the shuffles, loads and stores that stand for them.
#include <string>
#include <utility>

#include "host/functional/compiler/lower.h"

namespace nearwarp::compiler {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

Operand lane_id() {
  Operand out;
  out.kind = Operand::Kind::kSpecial;
  out.special = ptx::SpecialReg::kLaneid;
  return out;
}

}  // namespace

void Lowering::expand_shared_matrix(Frame* frame, const ptx::Instruction& in,
                                    const Instruction& like) {
  const bool load = in.op == Opcode::kLdmatrix, transposed = in.mod.mode != 0;
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  const ptx::Operand& list = ops[load ? 0 : 1];
  const uint32_t count = list.kind == Kind::kVector ? list.count : 1;
  if (in.num_operands != 2 || count != in.mod.vector)
    fail(in, std::to_string(count) + " registers", std::to_string(in.mod.vector) + " registers");
  const ptx::Operand& where = ops[load ? 1 : 0];
  if (in.mod.detail != 0) {
    expand_byte_matrix(frame, in, like, list, shared_address(frame, in, like, where));
    return;
  }
  // A row of 16 bytes for each lane; lanes share them (matrix_rows.h of instructions).
  constexpr uint32_t kWords = 4;
  Instruction out = like;
  out.op = load ? Opcode::kLd : Opcode::kSt;
  out.mod.type = Type::kB32;
  out.mod.space = in.mod.space;
  out.mod.vector = kWords;
  out.mod.matrices = static_cast<uint8_t>(count);
  out.mod.transposed = transposed;
  address(frame, in, where, &out);
  for (uint32_t i = 0; i < count; ++i) {
    const ptx::Operand& element =
        list.kind == Kind::kVector ? frame->fn->operands[list.index + i] : list;
    if (load) {
      add_destination(frame, in, element, Type::kB32, &out);
    } else {
      out.srcs.push_back(value(frame, in, element, Type::kB32));
    }
  }
  if (load)
    out.dsts.resize(kWords, kNone);
  else
    out.srcs.resize(kWords, constant(0));
  code_.instructions.push_back(std::move(out));
}

// movmatrix: the transpose of an 8 by 8 matrix of 16-bit elements in registers.
void Lowering::expand_transpose(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  Instruction out = like;
  operands(frame, in, &out);
  const auto u32 = [&](Opcode op, RegId a, uint32_t b) {
    return compute(like, op, Type::kB32, {of_register(a), constant(b)});
  };
  const RegId lane = compute(like, Opcode::kMov, Type::kB32, {lane_id()});
  const RegId value = compute(like, Opcode::kMov, Type::kB32, {out.srcs.at(0)});
  const RegId column = u32(Opcode::kShr, lane, 2);
  const RegId shift = u32(Opcode::kShl, u32(Opcode::kAnd, column, 1), 4);
  RegId halves[2];
  for (uint32_t e = 0; e < 2; ++e) {
    // Element (2 (lane mod 4) + e, column) lies in lane 4 row + column / 2.
    const RegId row = u32(Opcode::kOr, u32(Opcode::kShl, u32(Opcode::kAnd, lane, 3), 1), e);
    const RegId from = compute(
        like, Opcode::kAdd, Type::kU32,
        {of_register(u32(Opcode::kShl, row, 2)), of_register(u32(Opcode::kShr, column, 1))});
    const RegId word = shuffle_from(like, value, from);
    const RegId moved =
        compute(like, Opcode::kShr, Type::kB32, {of_register(word), of_register(shift)});
    halves[e] = u32(Opcode::kAnd, moved, 0xffff);
  }
  Instruction merge = like;
  merge.op = Opcode::kOr;
  merge.mod.type = Type::kB32;
  merge.dsts = {out.dsts.at(0)};
  merge.srcs = {of_register(halves[0]), of_register(u32(Opcode::kShl, halves[1], 16))};
  code_.instructions.push_back(std::move(merge));
}

// ldmatrix, stmatrix of bytes, and of 6 and 4 bits that get a byte each. A row has 16 elements,
// without gaps from its first bit on (PTX ISA 9.0, ldmatrix and stmatrix; figures 105, 106 and
// 108).
//  - m8n16: a register has elements 4 (lane mod 4) to + 3 of row lane / 4;
//  - m16n16.trans: elements lane / 4 of rows 4 (lane mod 4) to + 3, and a second register elements
//    lane / 4 + 8;
//  - m16n8.trans, stored: two rows 2 (lane mod 4) and the next, elements lane / 4 of both, then
//    lane / 4 + 8.
void Lowering::expand_byte_matrix(Frame* frame, const ptx::Instruction& in, const Instruction& like,
                                  const ptx::Operand& list, RegId base) {
  const bool load = in.op == Opcode::kLdmatrix, transposed = in.mod.mode != 0;
  const uint32_t bits = in.mod.detail, count = in.mod.vector;
  const auto u32 = [&](Opcode op, RegId a, uint32_t b) {
    return compute(like, op, Type::kB32, {of_register(a), constant(b)});
  };
  const auto both = [&](Opcode op, RegId a, RegId b) {
    return compute(like, op, Type::kB32, {of_register(a), of_register(b)});
  };
  const auto sum = [&](RegId a, RegId b) {
    return compute(like, Opcode::kAdd, Type::kU32, {of_register(a), of_register(b)});
  };
  const auto product = [&](RegId a, uint32_t b) {
    ptx::Modifiers low;
    low.mul_part = ptx::MulPart::kLo;
    return compute(like, Opcode::kMul, Type::kU32, {of_register(a), constant(b)}, low);
  };
  const auto byte_at = [&](RegId row, RegId offset, int64_t further) {
    const RegId byte = new_register("%t", Type::kB32);
    access(like, Opcode::kLd, Space::kShared, Type::kU8, {sum(row, offset), kNone, further},
           {byte});
    return byte;
  };
  const RegId lane = compute(like, Opcode::kMov, Type::kB32, {lane_id()});
  const RegId quad = u32(Opcode::kShr, lane, 2), within = u32(Opcode::kAnd, lane, 3);
  // Addresses of rows come from the lanes; 8 of them belong to each register, or 16 to two.
  const auto row_of = [&](uint32_t first, RegId row) {
    return shuffle_from(like, base, first == 0 ? row : u32(Opcode::kAdd, row, first));
  };
  const auto element = [&](RegId row, RegId column) {
    if (bits == 8) return byte_at(row, column, 0);
    const RegId bit = product(column, bits), byte = u32(Opcode::kShr, bit, 3);
    RegId found = byte_at(row, byte, 0);
    if (bits == 6) {  // which may reach into the next
      const RegId next = compute(like, Opcode::kMin, Type::kU32,
                                 {of_register(u32(Opcode::kAdd, byte, 1)), constant(11)});
      found = both(Opcode::kOr, found, u32(Opcode::kShl, byte_at(row, next, 0), 8));
    }
    return u32(Opcode::kAnd, both(Opcode::kShr, found, u32(Opcode::kAnd, bit, 7)),
               (1u << bits) - 1);
  };
  // The neighbours 4 (lane mod 4) to + 3 of a row, a byte each.
  const auto neighbours = [&](RegId row) {
    const RegId first = product(within, bits / 2);
    RegId packed = byte_at(row, first, 0);
    for (uint32_t b = 1; b < bits / 2; ++b)
      packed = both(Opcode::kOr, packed, u32(Opcode::kShl, byte_at(row, first, b), 8 * b));
    RegId spread = u32(Opcode::kAnd, packed, (1u << bits) - 1);
    for (uint32_t e = 1; e < 4; ++e) {
      const RegId moved = u32(Opcode::kShl, packed, e * (8 - bits));
      spread = both(Opcode::kOr, spread, u32(Opcode::kAnd, moved, ((1u << bits) - 1) << 8 * e));
    }
    return spread;
  };
  for (uint32_t i = 0; i < count; ++i) {
    const ptx::Operand& part =
        list.kind == Kind::kVector ? frame->fn->operands[list.index + i] : list;
    if (!load) {
      const RegId whole =
          compute(like, Opcode::kMov, Type::kB32, {value(frame, in, part, Type::kB32)});
      const RegId pair = u32(Opcode::kShl, within, 1);
      for (uint32_t e = 0; e < 4; ++e) {
        const RegId row = row_of(8 * i + e % 2, pair);
        access(like, Opcode::kSt, Space::kShared, Type::kB8,
               {sum(row, quad), kNone, int64_t{e} / 2 * 8}, {u32(Opcode::kShr, whole, 8 * e)});
      }
      continue;
    }
    Instruction holder = like;
    add_destination(frame, in, part, Type::kB32, &holder);
    RegId found;
    if (!transposed) {
      found = neighbours(row_of(8 * i, quad));
    } else {
      const RegId column = i % 2 == 0 ? quad : u32(Opcode::kAdd, quad, 8);
      const RegId four = u32(Opcode::kShl, within, 2);
      found = element(row_of(i / 2 * 16, four), column);
      for (uint32_t e = 1; e < 4; ++e)
        found = both(Opcode::kOr, found,
                     u32(Opcode::kShl, element(row_of(i / 2 * 16 + e, four), column), 8 * e));
    }
    if (holder.dsts[0] == kNone) continue;
    holder.op = Opcode::kMov;
    holder.mod.type = Type::kB32;
    holder.srcs = {of_register(found)};
    code_.instructions.push_back(std::move(holder));
  }
}

}  // namespace nearwarp::compiler
