// Lowers copies of tensors' boxes, bulk copies to several blocks of a cluster, bulk reductions, and
// stores that complete bytes of an mbarrier.
//
// A box, or a row of bytes, is copied by a loop of the thread that executes the instruction: each
// step (exec::tensor()) moves 512 bytes and records their sectors; where these may be more than a
// record names, steps follow that record the rest. Then the bytes arrive at the mbarrier. An SM
// executes all of that as one instruction, whose steps are its copy engine's work.
#include <cstddef>
#include <iterator>

#include "host/functional/compiler/lower.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/instructions/tensor_map.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {

using ptx::BulkCopy;
using ptx::Opcode;
using ptx::Space;
using ptx::TensorDetail;
using ptx::Type;
using Kind = ptx::Operand::Kind;

uint32_t Lowering::new_label() {
  code_.labels.push_back(kNone);
  return static_cast<uint32_t>(code_.labels.size() - 1);
}

void Lowering::place_label(uint32_t label) {
  code_.labels[label] = static_cast<uint32_t>(code_.instructions.size());
}

void Lowering::branch(const Instruction& like, uint32_t label, RegId guard, bool negated) {
  Instruction out = like;
  out.op = Opcode::kBra;
  out.mod = {};
  out.inlined_call = true;
  out.guard = guard;
  out.guard_negated = negated;
  out.targets = {label};
  code_.instructions.push_back(std::move(out));
}

/// Emits the arrival of `bytes` (32 bits) copied bytes at the mbarrier at shared address `barrier`,
/// or at that of each block in the mask `blocks`. With `ends_box`, it ends a copy by the copy
/// engine.
void Lowering::copied(const Instruction& asking, const Operand& bytes, RegId barrier,
                      const Operand& blocks, bool multicast, bool ends_box) {
  const Instruction like = implied(asking);
  ptx::Modifiers widen;
  widen.src_type = Type::kU32;
  const RegId wide = compute(like, Opcode::kCvt, Type::kU64, {bytes}, widen);
  const RegId missing = compute(like, Opcode::kSub, Type::kU64, {constant(0), of_register(wide)});
  const Operand change = bytes_change(like, of_register(missing), 0);
  if (!multicast) {
    arrive(like, Space::kShared, {barrier, kNone, 0}, {}, change, true);
    code_.instructions.back().mod.mode = ends_box;
    return;
  }
  const uint32_t head = new_label(), done = new_label();
  const RegId rest = compute(like, Opcode::kAnd, Type::kB32, {blocks, constant(0xffff)});
  place_label(head);
  branch(like, done, compare(like, ptx::Compare::kEq, Type::kU32, of_register(rest), constant(0)));
  const RegId rank = compute(like, Opcode::kBfind, Type::kU32, {of_register(rest)});
  const RegId one = compute(like, Opcode::kShl, Type::kB32, {constant(1), of_register(rank)});
  Instruction take = like;
  take.op = Opcode::kXor;
  take.mod.type = Type::kB32;
  take.dsts = {rest};
  take.srcs = {of_register(rest), of_register(one)};
  code_.instructions.push_back(std::move(take));
  const RegId window = compute(
      like, Opcode::kShl, Type::kB32,
      {of_register(compute(like, Opcode::kAdd, Type::kU32, {of_register(rank), constant(1)})),
       constant(exec::kWindowBits)});
  const RegId within = compute(like, Opcode::kAnd, Type::kB32,
                               {of_register(barrier), constant(exec::kWindowBytes - 1)});
  const RegId there =
      compute(like, Opcode::kOr, Type::kB32, {of_register(within), of_register(window)});
  arrive(like, Space::kShared, {there, kNone, 0}, {}, change, true);
  code_.instructions.back().mod.mode = ends_box;
  branch(like, head);
  place_label(done);
}

// Lowers cp.async.bulk to and from global memory, cp.async.bulk.tensor and its reduction.
void Lowering::expand_tensor_copy(Frame* frame, const ptx::Instruction& in,
                                  const Instruction& like) {
  const auto which = static_cast<BulkCopy>(in.mod.mode);
  const TensorDetail detail = TensorDetail::unpack(in.mod.detail);
  const bool load = which == BulkCopy::kTensorLoad || which == BulkCopy::kFromGlobal;
  const bool row = detail.dimensions == 0, wide = detail.along != TensorDetail::Along::kAll;
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  uint32_t n = in.num_operands;
  if (in.mod.cache_hint && n > 0) --n;  // the policy comes last
  const uint32_t wanted = row    ? 3u + load + detail.multicast
                          : load ? 3u + detail.has_offsets + detail.multicast
                                 : 2;
  if (n != wanted) refuse(in, std::to_string(n) + " operands", std::to_string(wanted));

  const uint32_t done = new_label();
  if (like.guard != kNone) branch(implied(like), done, like.guard, !like.guard_negated);
  Instruction plain = implied(like);
  plain.guard = kNone;
  plain.guard_negated = false;
  // The lanes execute the loop one after the other.
  const uint32_t again = new_label(), head = new_label(), end = new_label();
  place_label(again);
  const RegId active = compute(plain, Opcode::kActivemask, Type::kB32, {});
  const RegId leader = compute(plain, Opcode::kBfind, Type::kU32, {of_register(active)});
  Operand lane;
  lane.kind = Operand::Kind::kSpecial;
  lane.special = ptx::SpecialReg::kLaneid;
  branch(plain, again, compare(plain, ptx::Compare::kNe, Type::kU32, lane, of_register(leader)));

  const ptx::Operand& box = ops[load && !row ? 1 : 0];
  const uint32_t coordinates = detail.four_rows ? 5 : detail.dimensions;
  if (!row && (box.kind != Kind::kVector || box.count != coordinates + 1))
    fail(in, "a box of other dimensions",
         "[map, {" + std::to_string(coordinates) + " coordinates}]");
  const auto elements = [&](const ptx::Operand& op, uint32_t first, std::vector<Operand>* to) {
    if (op.kind != Kind::kVector) fail(in, "an operand without braces");
    for (uint32_t i = first; i < op.count; ++i)
      to->push_back(value(frame, in, frame->fn->operands[op.index + i],
                          frame->fn->operands[op.index + i].kind == Kind::kRegister
                              ? frame->fn->registers[frame->fn->operands[op.index + i].index].type
                              : Type::kB32));
  };
  ptx::Instruction shared_in = in;
  shared_in.mod.space = Space::kShared;
  const RegId shared = shared_address(frame, shared_in, plain, ops[load ? 0 : 1]);
  std::vector<Operand> places;
  Operand map, blocks = constant(0), steps, bytes;
  if (row) {
    ptx::Instruction generic = in;
    generic.mod.space = Space::kGeneric;
    Instruction holder = plain;
    address(frame, generic, ops[load ? 1 : 0], &holder);
    if (holder.address.base == kNone) refuse(in, "an address that is no register", "a register");
    map = of_register(compute(plain, Opcode::kAdd, Type::kU64,
                              {of_register(holder.address.base),
                               constant(static_cast<uint64_t>(holder.address.offset))}));
    bytes = of_register(
        compute(plain, Opcode::kMov, Type::kB32, {value(frame, in, ops[2], Type::kB32)}));
    const RegId rounded = compute(plain, Opcode::kAdd, Type::kU32, {bytes, constant(511)});
    steps =
        of_register(compute(plain, Opcode::kShr, Type::kU32, {of_register(rounded), constant(9)}));
    places.push_back(bytes);
    if (detail.multicast) {
      const ptx::Operand& mask = ops[4];
      const Type type =
          mask.kind == Kind::kRegister ? frame->fn->registers[mask.index].type : Type::kB32;
      blocks = value(frame, in, mask, type);
    }
  } else {
    map = value(frame, in, frame->fn->operands[box.index], Type::kB64);
    elements(box, 1, &places);
    uint32_t next = 3;
    if (detail.has_offsets) {
      const ptx::Operand& offsets = ops[next++];
      const uint32_t count = wide ? 2 : detail.dimensions - 2u;
      if (offsets.kind != Kind::kVector || offsets.count != count)
        fail(in, "other offsets",
             wide ? "pixels more, and an offset along the width"
                  : "as many as the tensor has dimensions without first and last");
      elements(offsets, 0, &places);
    }
    if (detail.multicast) {
      const ptx::Operand& mask = ops[next];
      const Type type =
          mask.kind == Kind::kRegister ? frame->fn->registers[mask.index].type : Type::kB32;
      blocks = value(frame, in, mask, type);
    }
    Instruction size = plain;
    size.op = Opcode::kTensorSize;
    size.mod.type = Type::kB32;
    size.mod.detail = detail.pack();
    size.dsts = {new_register("%t", Type::kB32), new_register("%t", Type::kB32)};
    size.srcs = {map};
    if (wide) size.srcs.push_back(places.at(detail.dimensions));
    steps = of_register(size.dsts[0]);
    bytes = of_register(size.dsts[1]);
    code_.instructions.push_back(std::move(size));
  }
  if (blocks.kind == Operand::Kind::kRegister &&
      ptx::size_of(kernel_->registers[blocks.reg].type) == 2) {
    ptx::Modifiers widen;
    widen.src_type = Type::kU16;
    blocks = of_register(compute(plain, Opcode::kCvt, Type::kU32, {blocks}, widen));
  }

  const RegId at = compute(plain, Opcode::kMov, Type::kB32, {constant(0)});
  place_label(head);
  const RegId leave = compare(plain, ptx::Compare::kGe, Type::kU32, of_register(at), steps);
  branch(plain, end, leave);
  Instruction move = plain;
  move.implied = false;
  // The record of a step has a mask of pieces instead of lanes, so it needs one like a guarded
  // access.
  move.guard = leave;
  move.guard_negated = true;
  move.op = load                               ? Opcode::kTensorLoad
            : which == BulkCopy::kTensorReduce ? Opcode::kTensorReduce
                                               : Opcode::kTensorStore;
  move.mod.type = Type::kB32;
  move.mod.vector = 4;  // pieces of 16 bytes
  move.mod.space = Space::kGlobal;
  move.mod.atomic = in.mod.atomic;
  move.mod.detail = detail.pack();
  move.mod.async_copy = load;
  move.srcs = {map, of_register(shared), of_register(at), blocks};
  move.srcs.insert(move.srcs.end(), places.begin(), places.end());
  code_.instructions.push_back(std::move(move));
  Instruction step = plain;
  step.op = Opcode::kAdd;
  step.mod.type = Type::kU32;
  step.dsts = {at};
  step.srcs = {of_register(at), constant(1)};
  code_.instructions.push_back(std::move(step));
  branch(plain, head);
  place_label(end);
  if (load) {
    Instruction fence = plain;
    fence.op = Opcode::kMembar;
    fence.mod.block_scope = true;
    code_.instructions.push_back(std::move(fence));
    copied(plain, bytes, shared_address(frame, shared_in, plain, ops[row ? 3 : 2]), blocks,
           detail.multicast, true);
  } else {
    Instruction over = plain;
    over.implied = false;
    over.op = Opcode::kNop;
    over.mod = {};
    over.mod.detail = static_cast<uint32_t>(ptx::CopyGroup::kBulkEnd);
    code_.instructions.push_back(std::move(over));
  }
  place_label(done);
}

// Lowers cp.reduce.async.bulk dst, src, bytes{, mbarrier}{, policy} to a loop of atomic operations,
// one for each element or each pair of halves.
void Lowering::expand_bulk_reduction(Frame* frame, const ptx::Instruction& in,
                                     const Instruction& like) {
  const bool counted = static_cast<BulkCopy>(in.mod.mode) == BulkCopy::kReduceCluster;
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands < (counted ? 4u : 3u)) fail(in, "too few operands");
  Type type = in.mod.type;
  if (type == Type::kF16) type = Type::kF16x2;
  if (type == Type::kBF16) type = Type::kBF16x2;
  const uint32_t unit = ptx::size_of(type);
  if (unit < 4) refuse(in, "elements of this type");
  const uint32_t done = new_label(), head = new_label(), end = new_label();
  if (like.guard != kNone) branch(like, done, like.guard, !like.guard_negated);
  Instruction plain = like;
  plain.guard = kNone;
  plain.guard_negated = false;
  ptx::Instruction shared_in = in, generic = in;
  shared_in.mod.space = Space::kShared;
  generic.mod.space = Space::kGeneric;
  Instruction holder = plain;
  if (counted)
    holder.address = {shared_address(frame, shared_in, plain, ops[0]), kNone, 0};
  else
    address(frame, generic, ops[0], &holder);
  if (holder.address.base == kNone) refuse(in, "an address that is no register", "a register");
  const RegId from = shared_address(frame, shared_in, plain, ops[1]);
  const RegId bytes =
      compute(plain, Opcode::kMov, Type::kB32, {value(frame, in, ops[2], Type::kB32)});
  const RegId at = compute(plain, Opcode::kMov, Type::kB32, {constant(0)});
  ptx::Modifiers widen;
  widen.src_type = Type::kU32;
  place_label(head);
  branch(plain, end,
         compare(plain, ptx::Compare::kGe, Type::kU32, of_register(at), of_register(bytes)));
  const RegId source =
      compute(plain, Opcode::kAdd, Type::kU32, {of_register(from), of_register(at)});
  const bool wide = ptx::size_of(kernel_->registers[holder.address.base].type) == 8;
  Operand moved = of_register(at);
  if (wide) moved = of_register(compute(plain, Opcode::kCvt, Type::kU64, {moved}, widen));
  const RegId target = compute(plain, Opcode::kAdd, wide ? Type::kU64 : Type::kU32,
                               {of_register(holder.address.base), moved});
  const RegId data = new_register("%t", ptx::bits_type(unit));
  access(plain, Opcode::kLd, Space::kShared, ptx::bits_type(unit), {source, kNone, 0}, {data});
  Instruction red = plain;
  red.op = Opcode::kRed;
  red.mod.type = type;
  red.mod.atomic = in.mod.atomic;
  red.mod.space = counted ? Space::kShared : Space::kGlobal;
  red.address = {target, kNone, holder.address.offset};
  red.srcs = {of_register(data)};
  code_.instructions.push_back(std::move(red));
  Instruction step = plain;
  step.op = Opcode::kAdd;
  step.mod.type = Type::kU32;
  step.dsts = {at};
  step.srcs = {of_register(at), constant(unit)};
  code_.instructions.push_back(std::move(step));
  branch(plain, head);
  place_label(end);
  if (counted)
    copied(plain, of_register(bytes), shared_address(frame, shared_in, plain, ops[3]), constant(0),
           false);
  place_label(done);
}

// Lowers st.async and red.async [address], value, [mbarrier].
void Lowering::expand_counted_word(Frame* frame, const ptx::Instruction& in,
                                   const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands != 3) fail(in, "too many or too few operands");
  const RegId to = shared_address(frame, in, like, ops[0]);
  const bool vector = ops[1].kind == Kind::kVector;
  const uint32_t count = vector ? ops[1].count : 1;
  if (count != in.mod.vector) fail(in, "as many values as the vector has are wanted");
  Instruction out = like;
  out.mod.type = in.mod.type;
  out.mod.space = Space::kShared;
  out.mod.vector = in.mod.vector;
  out.address = {to, kNone, 0};
  out.op = in.mod.atomic == ptx::AtomicOp::kNone ? Opcode::kSt : Opcode::kRed;
  out.mod.atomic = in.mod.atomic;
  out.mod.async_copy = out.op == Opcode::kSt;
  for (uint32_t i = 0; i < count; ++i)
    out.srcs.push_back(
        value(frame, in, vector ? frame->fn->operands[ops[1].index + i] : ops[1], in.mod.type));
  code_.instructions.push_back(std::move(out));
  copied(like, constant(count * ptx::size_of(in.mod.type)), shared_address(frame, in, like, ops[2]),
         constant(0), false);
}

// Lowers tensormap.cp_fenceproxy [to], [from], 128: each lane of the warp copies a word.
void Lowering::expand_map_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  if (in.num_operands != 3 || ops[2].kind != Kind::kInteger || ops[2].value != 128)
    refuse(in, "a copy of another size", "128 bytes");
  Operand lane;
  lane.kind = Operand::Kind::kSpecial;
  lane.special = ptx::SpecialReg::kLaneid;
  const RegId word = compute(like, Opcode::kShl, Type::kB32, {lane, constant(2)});
  const RegId from =
      compute(like, Opcode::kAdd, Type::kU32,
              {of_register(shared_address(frame, in, like, ops[1])), of_register(word)});
  ptx::Instruction generic = in;
  generic.mod.space = Space::kGeneric;
  Instruction holder = like;
  address(frame, generic, ops[0], &holder);
  if (holder.address.base == kNone) refuse(in, "an address that is no register", "a register");
  ptx::Modifiers widen;
  widen.src_type = Type::kU32;
  const RegId wide = compute(like, Opcode::kCvt, Type::kU64, {of_register(word)}, widen);
  const RegId to = compute(like, Opcode::kAdd, Type::kU64,
                           {of_register(holder.address.base), of_register(wide)});
  const RegId data = new_register("%t", Type::kB32);
  access(like, Opcode::kLd, Space::kShared, Type::kB32, {from, kNone, 0}, {data});
  access(like, Opcode::kSt, Space::kGlobal, Type::kB32, {to, kNone, holder.address.offset}, {data});
}

// Lowers tensormap.replace to a store into the map, whose layout is exec::TensorMap.
void Lowering::expand_map_field(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  using exec::TensorMap;
  const auto field = static_cast<ptx::MapField>(in.mod.detail);
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  struct Place {
    size_t offset;  ///< bytes
    size_t each;    ///< bytes per dimension; 0: the field has no ordinal
    Type type;      ///< type of the stored value
    uint64_t less;  ///< is subtracted from the operand
  };
  const Place place = [&]() -> Place {
    switch (field) {
      case ptx::MapField::kAddress:
        return {offsetof(TensorMap, address), 0, Type::kU64, 0};
      case ptx::MapField::kRank:  // the operand is the number of dimensions less one
        return {offsetof(TensorMap, dimensions), 0, Type::kU8, ~uint64_t{0}};
      case ptx::MapField::kBox:
        return {offsetof(TensorMap, box), 2, Type::kU16, 0};
      case ptx::MapField::kSize:
        return {offsetof(TensorMap, last), 4, Type::kU32, 1};
      case ptx::MapField::kStride:
        return {offsetof(TensorMap, strides), 8, Type::kU64, 0};
      case ptx::MapField::kStep:
        return {offsetof(TensorMap, element_strides), 1, Type::kU8, 0};
      case ptx::MapField::kType:
        return {offsetof(TensorMap, type), 0, Type::kU8, 0};
      case ptx::MapField::kInterleave:
        return {offsetof(TensorMap, interleave), 0, Type::kU8, 0};
      case ptx::MapField::kSwizzle:
        return {offsetof(TensorMap, swizzle), 0, Type::kU8, 0};
      default:
        return {offsetof(TensorMap, fills_nan), 0, Type::kU8, 0};
    }
  }();
  if (in.num_operands != (place.each != 0 ? 3u : 2u)) fail(in, "too many or too few operands");
  Instruction holder = like;
  address(frame, in, ops[0], &holder);
  if (holder.address.base == kNone) refuse(in, "an address that is no register", "a register");
  uint64_t offset = place.offset;
  if (place.each != 0) {
    if (ops[1].kind != Kind::kInteger || ops[1].value < 0 || ops[1].value > 4)
      refuse(in, "an ordinal that is no constant", "0 to 4");
    offset += static_cast<uint64_t>(ops[1].value) * place.each;
  }
  const ptx::Operand& last = ops[in.num_operands - 1];
  const bool wide = place.type == Type::kU64;
  Operand number = value(frame, in, last, wide ? Type::kB64 : Type::kB32);
  if (field == ptx::MapField::kType) {
    // PTX and the driver number .f32.ftz, .f64, .bf16, .tf32 and .tf32.ftz differently.
    static constexpr uint8_t kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
    if (number.kind != Operand::Kind::kImmediate || number.bits >= std::size(kTypes))
      refuse(in, "this type of elements", "0 to 12");
    number.bits = kTypes[number.bits];
  }
  if (field == ptx::MapField::kSwizzle &&
      (number.kind != Operand::Kind::kImmediate || number.bits > 3))
    refuse(in, "this swizzle", "0 to 3");
  const RegId data = compute(like, Opcode::kSub, wide ? Type::kU64 : Type::kU32,
                             {number, constant(wide ? place.less : place.less & 0xffffffff)});
  access(like, Opcode::kSt, in.mod.space, place.type,
         {holder.address.base, kNone, holder.address.offset + static_cast<int64_t>(offset)},
         {data});
}

}  // namespace nearwarp::compiler
