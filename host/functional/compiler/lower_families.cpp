// Expands instructions that other instructions can stand for: matrices through shared memory,
// asynchronous copies. Their timing is that of what stands for them.
#include <algorithm>

#include "host/functional/compiler/lower.h"
#include "host/functional/instructions/decoded.h"
#include "host/functional/ptx/convert_details.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::compiler {
namespace {

using ptx::MatrixDetail;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

Operand lane_id() {
  Operand out;
  out.kind = Operand::Kind::kSpecial;
  out.special = ptx::SpecialReg::kLaneid;
  return out;
}

}  // namespace

// A new register that holds `op` of `srcs`, under the guard of `like`.
RegId Lowering::compute(const Instruction& like, Opcode op, Type type, std::vector<Operand> srcs,
                        const ptx::Modifiers& mod) {
  Instruction out = like;
  out.op = op;
  out.mod = mod;
  out.mod.type = type;
  out.srcs = std::move(srcs);
  out.address = {};
  const bool wide = mod.mul_part == ptx::MulPart::kWide;
  out.dsts = {new_register("%t", wide ? Type::kB64 : type)};
  const RegId result = out.dsts[0];
  code_.instructions.push_back(std::move(out));
  return result;
}

RegId Lowering::compare(const Instruction& like, ptx::Compare how, Type type, const Operand& a,
                        const Operand& b, RegId result) {
  Instruction out = like;
  out.op = Opcode::kSetp;
  out.mod = {};
  out.mod.type = type;
  out.mod.compare = how;
  out.address = {};
  out.dsts = {result != kNone ? result : new_register("%p", Type::kPred)};
  out.srcs = {a, b};
  result = out.dsts[0];
  code_.instructions.push_back(std::move(out));
  return result;
}

void Lowering::access(const Instruction& like, Opcode op, Space space, Type type, Address address,
                      const std::vector<RegId>& registers) {
  Instruction out = like;
  out.op = op;
  out.mod = {};
  out.mod.type = type;
  out.mod.space = space;
  out.mod.vector = static_cast<uint8_t>(registers.size());
  out.address = address;
  out.dsts.clear();
  out.srcs.clear();
  if (op == Opcode::kLd) {
    out.dsts = registers;
  } else {
    for (const RegId r : registers) out.srcs.push_back(of_register(r));
  }
  code_.instructions.push_back(std::move(out));
}

// False if the instruction needs no expansion.
bool Lowering::expand(Frame* frame, const ptx::Instruction& in) {
  Instruction like = start(in);
  like.mod = {};
  if (in.guard != ptx::kNoIndex) like.guard = reg(frame, in.guard);
  if (in.mod.type == Type::kB128) {
    expand_wide(frame, in, like);
    return true;
  }
  if (in.mod.pairs) {
    expand_pairs(frame, in, like);
    return true;
  }
  switch (in.op) {
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
      expand_shared_matrix(frame, in, like);
      return true;
    case Opcode::kMovmatrix:
      expand_transpose(frame, in, like);
      return true;
    case Opcode::kWmmaLoad:
    case Opcode::kWmmaStore:
      expand_wmma(frame, in, like);
      return true;
    case Opcode::kCpAsync:
      switch (static_cast<ptx::BulkCopy>(in.mod.mode)) {
        case ptx::BulkCopy::kNone:
          expand_copy(frame, in, like);
          break;
        case ptx::BulkCopy::kTensorLoad:
        case ptx::BulkCopy::kTensorStore:
        case ptx::BulkCopy::kTensorReduce:
          expand_tensor_copy(frame, in, like);
          break;
        case ptx::BulkCopy::kReduceGlobal:
        case ptx::BulkCopy::kReduceCluster:
          expand_bulk_reduction(frame, in, like);
          break;
        case ptx::BulkCopy::kNoCancellation: {
          if (in.num_operands != 2) fail(in, "too many or too few operands");
          const RegId to = shared_address(frame, in, like, frame->fn->operands[in.first_operand]);
          const RegId none = compute(like, Opcode::kMov, Type::kB64, {constant(0)});
          access(like, Opcode::kSt, Space::kShared, Type::kB64, {to, kNone, 0}, {none, none});
          code_.instructions.back().mod.async_copy = true;
          copied(like, constant(16),
                 shared_address(frame, in, like, frame->fn->operands[in.first_operand + 1]),
                 constant(0), false);
          break;
        }
        case ptx::BulkCopy::kMap:
          expand_map_copy(frame, in, like);
          break;
        case ptx::BulkCopy::kMapField:
          expand_map_field(frame, in, like);
          break;
        case ptx::BulkCopy::kWord:
          expand_counted_word(frame, in, like);
          break;
        case ptx::BulkCopy::kFromGlobal:
        case ptx::BulkCopy::kToGlobal:
          expand_tensor_copy(frame, in, like);
          break;
        default:
          expand_bulk_copy(frame, in, like);
      }
      return true;
    case Opcode::kMin:
    case Opcode::kMax: {
      if (in.num_operands != 4) return false;
      if (in.mod.type != Type::kF32) refuse(in, "three values of this type", ".f32");
      // The maximum of three: of the first two, then of that and the third.
      Instruction all = like;
      operands(frame, in, &all);
      all.op = in.op;
      all.mod = in.mod;
      const Operand third = all.srcs.at(2);
      all.srcs.pop_back();
      const RegId two = compute(like, in.op, Type::kF32, all.srcs, in.mod);
      all.srcs = {of_register(two), third};
      code_.instructions.push_back(std::move(all));
      return true;
    }
    case Opcode::kWarpMma:
      expand_warp_matrix(frame, in, like);
      return true;
    case Opcode::kCvt:
      if (static_cast<ptx::CvtMode>(in.mod.mode) == ptx::CvtMode::kPack) {
        expand_pack(frame, in, like);
        return true;
      }
      if (in.mod.rounding != ptx::Rounding::kRs || in.num_operands != 3) return false;
      expand_random_rounding(frame, in, like);
      return true;
    case Opcode::kMov:
      return expand_bytes(frame, in, like);
    case Opcode::kWgmmaCommit:
    case Opcode::kWgmmaWait: {
      Instruction holder = like;
      operands(frame, in, &holder);
      expand_groups(in, like, holder.srcs.empty() ? constant(0) : holder.srcs[0]);
      return true;
    }
    case Opcode::kMbarrier:
      expand_mbarrier(frame, in, like);
      return true;
    case Opcode::kAlloca:
      expand_stack(frame, in, like);
      return true;
    case Opcode::kMapa:
      if (in.mod.mode == 2) {  // nothing is ever cancelled
        if (in.num_operands != 2) fail(in, "too many or too few operands");
        const ptx::Operand& result = frame->fn->operands[in.first_operand];
        Instruction out = like;
        if (in.mod.type == Type::kPred) {
          add_destination(frame, in, result, Type::kPred, &out);
          compare(like, ptx::Compare::kNe, Type::kU32, constant(0), constant(0), out.dsts[0]);
          return true;
        }
        const bool vector = result.kind == Kind::kVector;
        for (uint32_t i = 0; i < (vector ? result.count : 1); ++i) {
          Instruction move = like;
          move.op = Opcode::kMov;
          move.mod.type = Type::kB32;
          move.srcs = {constant(0)};
          add_destination(frame, in, vector ? frame->fn->operands[result.index + i] : result,
                          Type::kB32, &move);
          if (move.dsts[0] != kNone) code_.instructions.push_back(std::move(move));
        }
        return true;
      }
      expand_cluster_address(frame, in, like);
      return true;
    case Opcode::kCreatePolicy: {
      if (in.num_operands == 0) fail(in, "too few operands");
      Instruction out = start(in);
      out.op = Opcode::kMov;
      out.mod.type = Type::kB64;
      if (in.guard != ptx::kNoIndex) out.guard = like.guard;
      add_destination(frame, in, frame->fn->operands[in.first_operand], Type::kB64, &out);
      out.srcs = {constant(0)};
      code_.instructions.push_back(std::move(out));
      return true;
    }
    default:
      return false;
  }
}

// mapa, getctarank. In shared addresses, and in generic ones of shared memory, the bits above
// exec::kWindowBits are the rank of a block in its cluster plus one; 0 is the block itself.
void Lowering::expand_cluster_address(Frame* frame, const ptx::Instruction& in,
                                      const Instruction& like) {
  constexpr uint64_t kRankBits = (exec::kClusterWindows - 1) << exec::kWindowBits;
  static_assert((exec::kSharedGenericBase & kRankBits) == 0);
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  const bool wide = size_of(in.mod.type) == 8, maps = in.mod.mode == 0;
  if (in.num_operands != (maps ? 3u : 2u)) fail(in, "too many or too few operands");
  Instruction out = like;
  add_destination(frame, in, ops[0], maps ? in.mod.type : Type::kB32, &out);
  const Operand from = value(frame, in, ops[1], wide ? Type::kU64 : Type::kU32);
  const Type type = wide ? Type::kB64 : Type::kB32;
  if (maps) {
    const Operand rank = value(frame, in, ops[2], Type::kU32);
    RegId window =
        compute(like, Opcode::kShl, Type::kB32,
                {of_register(compute(like, Opcode::kAdd, Type::kU32, {rank, constant(1)})),
                 constant(exec::kWindowBits)});
    if (wide) {
      ptx::Modifiers widen;
      widen.src_type = Type::kU32;
      window = compute(like, Opcode::kCvt, Type::kU64, {of_register(window)}, widen);
    }
    const uint64_t keep = ~kRankBits & (wide ? ~uint64_t{0} : 0xffffffffu);
    const RegId base = compute(like, Opcode::kAnd, type, {from, constant(keep)});
    out.op = Opcode::kOr;
    out.mod.type = type;
    out.srcs = {of_register(base), of_register(window)};
    code_.instructions.push_back(std::move(out));
    return;
  }
  RegId rank = compute(like, Opcode::kShr, wide ? Type::kU64 : Type::kU32,
                       {from, constant(exec::kWindowBits)});
  if (wide) {
    ptx::Modifiers narrow;
    narrow.src_type = Type::kU64;
    rank = compute(like, Opcode::kCvt, Type::kU32, {of_register(rank)}, narrow);
  }
  rank = compute(like, Opcode::kAnd, Type::kB32,
                 {of_register(rank), constant(exec::kClusterWindows - 1)});
  const RegId own = compare(like, ptx::Compare::kEq, Type::kU32, of_register(rank), constant(0));
  const RegId other = compute(like, Opcode::kSub, Type::kU32, {of_register(rank), constant(1)});
  Operand mine;
  mine.kind = Operand::Kind::kSpecial;
  mine.special = ptx::SpecialReg::kClusterCtarank;
  out.op = Opcode::kSelp;
  out.mod.type = Type::kB32;
  out.srcs = {mine, of_register(other), of_register(own)};
  code_.instructions.push_back(std::move(out));
}

// The 32-bit shared address of an operand.
RegId Lowering::shared_address(Frame* frame, const ptx::Instruction& in, const Instruction& like,
                               const ptx::Operand& op) {
  Instruction holder = like;
  address(frame, in, op, &holder);
  const Address& a = holder.address;
  if (a.base == kNone) {
    Operand symbol;
    symbol.kind = a.symbol == kNone ? Operand::Kind::kImmediate : Operand::Kind::kSymbol;
    symbol.symbol = a.symbol;
    symbol.bits = static_cast<uint64_t>(a.offset);
    return compute(like, Opcode::kMov, Type::kB32, {symbol});
  }
  RegId base = a.base;
  if (size_of(kernel_->registers[base].type) == 8) {
    if (in.mod.space == Space::kGeneric) {
      ptx::Modifiers to_shared;
      to_shared.space = Space::kShared;
      to_shared.to_space = true;
      base = compute(like, Opcode::kCvta, Type::kU64, {of_register(base)}, to_shared);
    }
    ptx::Modifiers narrow;
    narrow.src_type = Type::kU64;
    base = compute(like, Opcode::kCvt, Type::kU32, {of_register(base)}, narrow);
  }
  return compute(like, Opcode::kAdd, Type::kU32,
                 {of_register(base), constant(static_cast<uint32_t>(a.offset))});
}

RegId Lowering::shuffle_from(const Instruction& like, RegId value, RegId lane) {
  ptx::Modifiers mod;
  mod.shfl = ptx::ShflMode::kIdx;
  return compute(like, Opcode::kShfl, Type::kB32,
                 {of_register(value), of_register(lane), constant(31), constant(0xffffffffu)}, mod);
}

// wmma.load, wmma.store. PTX leaves the layout of fragments open; here every lane holds
// neighbouring elements of one row (of one column, for column-major factors), the accumulator
// always by rows.
void Lowering::expand_wmma(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  const bool load = in.op == Opcode::kWmmaLoad;
  const MatrixDetail detail = MatrixDetail::unpack(in.mod.detail);
  Instruction out = start(in);
  operands(frame, in, &out);
  const uint32_t rows = detail.operand == 1 ? detail.k : detail.m;
  const uint32_t columns = detail.operand == 0 ? detail.k : detail.n;
  const bool by_column = detail.a_column;                 // of memory
  const bool strided = detail.operand == 2 && by_column;  // memory and fragment differ
  const uint32_t minor = detail.operand == 2 || !by_column ? columns : rows;
  const uint32_t each = rows * columns / 32;  // elements of a lane
  const uint32_t bytes = size_of(in.mod.type);
  const Type unit = bytes == 8 ? Type::kB64 : Type::kB32;  // of a fragment's registers
  std::vector<RegId> registers = out.dsts;
  Operand stride = constant(by_column ? rows : columns);
  const bool given = in.num_operands == 3;
  if (given) {
    stride = out.srcs.back();
    out.srcs.pop_back();
  }
  if (!load)
    for (const Operand& s : out.srcs) registers.push_back(compute(like, Opcode::kMov, unit, {s}));
  const uint32_t words = each * bytes / size_of(unit);  // registers with elements of their own
  if (words == 0 || registers.size() % words != 0 || (bytes < 4 && strided && bytes != 2))
    refuse(in, "this form of wmma");
  if (std::find(registers.begin(), registers.end(), kNone) != registers.end())
    refuse(in, "wmma with '_' in place of a register");
  if (out.address.base == kNone) refuse(in, "wmma with an address that is no register");
  const RegId base = out.address.base;
  const bool wide = size_of(kernel_->registers[base].type) == 8;
  const auto u32 = [&](Opcode op, RegId a, uint32_t b) {
    return compute(like, op, Type::kB32, {of_register(a), constant(b)});
  };
  const uint32_t per_line = minor / each;  // lanes that share a row
  const RegId lane = compute(like, Opcode::kMov, Type::kB32, {lane_id()});
  const RegId line =
      compute(like, Opcode::kDiv, Type::kU32, {of_register(lane), constant(per_line)});
  const RegId part = u32(Opcode::kAnd, lane, per_line - 1);
  const RegId first =
      compute(like, Opcode::kShl, Type::kB32,
              {of_register(part), constant(static_cast<uint32_t>(__builtin_ctz(each)))});
  ptx::Modifiers low, widen;
  low.mul_part = ptx::MulPart::kLo;
  widen.src_type = Type::kU32;
  const auto element = [&](RegId major, RegId within) {
    const RegId index = compute(like, Opcode::kMad, Type::kU32,
                                {of_register(major), stride, of_register(within)}, low);
    const RegId offset =
        compute(like, Opcode::kMul, Type::kU32, {of_register(index), constant(bytes)}, low);
    if (!wide)
      return compute(like, Opcode::kAdd, Type::kU32, {of_register(base), of_register(offset)});
    const RegId long_offset = compute(like, Opcode::kCvt, Type::kU64, {of_register(offset)}, widen);
    return compute(like, Opcode::kAdd, Type::kU64, {of_register(base), of_register(long_offset)});
  };
  const Opcode op = load ? Opcode::kLd : Opcode::kSt;
  if (strided) {
    for (uint32_t e = 0; e < each; ++e) {
      const Address at{element(u32(Opcode::kAdd, first, e), line), kNone, out.address.offset};
      if (bytes >= 4) {
        access(like, op, in.mod.space, unit, at, {registers[e]});
        continue;
      }
      // Halves of registers.
      ptx::Modifiers narrow;
      narrow.src_type = Type::kU32;
      if (!load) {
        const RegId half =
            compute(like, Opcode::kCvt, Type::kU16,
                    {of_register(u32(Opcode::kShr, registers[e / 2], 16 * (e % 2)))}, narrow);
        access(like, op, in.mod.space, Type::kB16, at, {half});
        continue;
      }
      const RegId half = new_register("%t", Type::kB32);
      access(like, op, in.mod.space, Type::kU16, at, {half});
      Instruction merge = like;
      merge.op = Opcode::kBfi;
      merge.mod.type = Type::kB32;
      merge.dsts = {registers[e / 2]};
      merge.srcs = {of_register(half), of_register(registers[e / 2]), constant(16 * (e % 2)),
                    constant(16)};
      code_.instructions.push_back(std::move(merge));
    }
  } else {
    const RegId at = element(line, first);
    for (uint32_t w = 0; w < words;) {
      const uint32_t n = words - w >= 4 && bytes != 8 ? 4 : (words - w >= 2 ? 2 : 1);
      access(like, op, in.mod.space, unit, {at, kNone, out.address.offset + size_of(unit) * w},
             {registers.begin() + w, registers.begin() + w + n});
      w += n;
    }
  }
  if (!load) return;
  for (size_t i = words; i < registers.size(); ++i) {  // copies, as some hardware keeps them
    Instruction copy = like;
    copy.op = Opcode::kMov;
    copy.mod.type = unit;
    copy.dsts = {registers[i]};
    copy.srcs = {of_register(registers[i % words])};
    code_.instructions.push_back(std::move(copy));
  }
}

// cp.async dst, src, bytes{, source bytes}: a load, and a store as a part of it; what the source
// lacks is zero. A predicate in place of the source bytes says that there are none.
void Lowering::expand_copy(Frame* frame, const ptx::Instruction& in, const Instruction& like) {
  const ptx::Operand* ops = frame->fn->operands.data() + in.first_operand;
  const uint32_t given = in.num_operands - (in.mod.cache_hint ? 1 : 0);  // the policy comes last
  if (given < 3 || given > 4 || ops[2].kind != Kind::kInteger ||
      (ops[2].value != 4 && ops[2].value != 8 && ops[2].value != 16))
    refuse(in, "this form of cp.async", "copies of 4, 8 or 16 bytes");
  const Instruction part = implied(like);
  Instruction to = part, from = part;
  ptx::Instruction generic = in;
  generic.mod.space = Space::kGeneric;
  address(frame, generic, ops[0], &to);
  address(frame, generic, ops[1], &from);
  const auto words = static_cast<uint32_t>(ops[2].value / 4);
  std::vector<RegId> data;
  for (uint32_t i = 0; i < words; ++i) data.push_back(new_register("%t", Type::kB32));
  const bool whole = given == 3 || (ops[3].kind == Kind::kInteger && ops[3].value == ops[2].value);
  if (whole) {
    access(like, Opcode::kLd, Space::kGlobal, Type::kB32, from.address, data);
    code_.instructions.back().mod.async_copy = true;
    code_.instructions.back().mod.detail = in.mod.detail;
  } else {
    const bool ignores =
        ops[3].kind == Kind::kRegister && frame->fn->registers[ops[3].index].type == Type::kPred;
    const RegId bytes =
        ignores ? compute(part, Opcode::kSelp, Type::kB32,
                          {constant(0), constant(static_cast<uint64_t>(ops[2].value)),
                           value(frame, in, ops[3], Type::kPred)})
                : compute(part, Opcode::kMov, Type::kB32, {value(frame, in, ops[3], Type::kB32)});
    const RegId bits = compute(part, Opcode::kShl, Type::kB32, {of_register(bytes), constant(3)});
    for (uint32_t i = 0; i < words; ++i) {
      Instruction zero = part;
      zero.op = Opcode::kMov;
      zero.mod.type = Type::kB32;
      zero.dsts = {data[i]};
      zero.srcs = {constant(0)};
      code_.instructions.push_back(zero);
      Instruction guarded = part;
      guarded.guard = new_register("%p", Type::kPred);
      if (like.guard != kNone) {  // false for lanes that the copy's own guard leaves out
        Instruction all = part;
        all.guard = kNone;
        all.guard_negated = false;
        compare(all, ptx::Compare::kNe, Type::kU32, constant(0), constant(0), guarded.guard);
        guarded.guard_negated = false;
      }
      compare(part, ptx::Compare::kGt, Type::kU32, of_register(bits), constant(32 * i),
              guarded.guard);
      Address at = from.address;
      at.offset += 4 * i;
      access(guarded, Opcode::kLd, Space::kGlobal, Type::kB32, at, {data[i]});
      if (i == 0) {  // this one stands for them all
        code_.instructions.back().implied = false;
        code_.instructions.back().mod.async_copy = true;
        code_.instructions.back().mod.detail = in.mod.detail;
      }
      // The bits of this word that the source has: a field longer than the word is all of it.
      Instruction cut = guarded;
      cut.op = Opcode::kBfe;
      cut.mod.type = Type::kU32;
      cut.dsts = {data[i]};
      const RegId rest =
          compute(guarded, Opcode::kSub, Type::kU32, {of_register(bits), constant(32 * i)});
      cut.srcs = {of_register(data[i]), constant(0), of_register(rest)};
      code_.instructions.push_back(cut);
    }
  }
  access(part, Opcode::kSt, Space::kShared, Type::kB32, to.address, data);
  code_.instructions.back().mod.async_copy = true;
}

}  // namespace nearwarp::compiler
