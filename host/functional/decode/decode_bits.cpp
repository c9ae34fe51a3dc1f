// Decoder: logic, shifts, comparisons, selection and moves.
#include "host/functional/decode/decoder.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;

bool Decoder::bits(const Instr& in) {
  switch (in.op) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kCnot:
      logic(in);
      return true;
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kShf:
      shift(in);
      return true;
    case Opcode::kSetp:
    case Opcode::kSet:
      compare(in);
      return true;
    case Opcode::kSelp:
    case Opcode::kSlct:
      select(in);
      return true;
    case Opcode::kMov:
      move_instruction(in);
      return true;
    case Opcode::kCvt:
      convert(in);
      return true;
    case Opcode::kCvta:
      convert_address(in);
      return true;
    default:
      break;
  }
  // The other instructions have the form d = f(a, b, c), where `a` has the instruction's width.
  const bool wide = ptx::size_of(in.mod.type) == 8, s = ptx::is_signed(in.mod.type);
  uint16_t code = 0;
  bool is_fast = false;
  bool b_wide = false;
  int32_t imm = 0;
  size_t num = in.srcs.size();
  switch (in.op) {
    case Opcode::kLop3:
      code = exec::kLop3;
      is_fast = true;
      if (num != 4 || in.srcs[3].kind != Operand::Kind::kImmediate)
        unsupported("lop3 without an immediate table");
      imm = static_cast<int32_t>(in.srcs[3].bits & 0xff);
      num = 3;
      break;
    case Opcode::kPopc:
      code = wide ? exec::kPopc64 : exec::kPopc32;
      is_fast = true;
      break;
    case Opcode::kClz:
      code = wide ? exec::kClz64 : exec::kClz32;
      is_fast = !wide;
      break;
    case Opcode::kBrev:
      code = wide ? exec::kBrev64 : exec::kBrev32;
      is_fast = !wide;
      break;
    case Opcode::kBfind:
      code =
          wide ? (s ? exec::kBfindS64 : exec::kBfindU64) : (s ? exec::kBfindS32 : exec::kBfindU32);
      imm = in.mod.shift_amount;
      break;
    case Opcode::kBfe:
      code = wide ? (s ? exec::kBfeS64 : exec::kBfeU64) : (s ? exec::kBfeS32 : exec::kBfeU32);
      break;
    case Opcode::kBfi: {
      // An operation has three sources, so position and length are first merged into one row.
      const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide);
      const uint16_t t = temporary(false);
      slow_unguarded(exec::kFieldSpec, t, source(in.srcs.at(2), false),
                     source(in.srcs.at(3), false));
      slow(wide ? exec::kBfi64 : exec::kBfi32, destination(in.dsts.at(0)).row, a, b, t);
      return true;
    }
    case Opcode::kBmsk:
      code = exec::kBmsk;
      imm = in.mod.mode;
      break;
    case Opcode::kPrmt:
      code = exec::kPrmt;
      imm = in.mod.mode;
      break;
    default:
      return false;
  }
  const uint16_t a = source(in.srcs.at(0), wide);
  const uint16_t b = num > 1 ? source(in.srcs[1], b_wide) : uint16_t{0};
  const uint16_t c = num > 2 ? source(in.srcs[2], false) : uint16_t{0};
  const Dest d = destination(in.dsts.at(0));
  if (is_fast)
    fast(code, d, a, b, c, imm);
  else
    slow(code, d.row, a, b, c, imm);
  return true;
}

void Decoder::logic(const Instr& in) {
  if (in.mod.type == Type::kPred) {
    const uint16_t a = predicate_operand(in.srcs.at(0));
    uint16_t b = exec::kTruePredicate * 2;
    uint16_t code = exec::kPredicateAnd;
    if (in.op == Opcode::kNot) {
      code = exec::kPredicateXor;  // with all ones
    } else {
      b = predicate_operand(in.srcs.at(1));
      if (in.op == Opcode::kOr) code = exec::kPredicateOr;
      if (in.op == Opcode::kXor) code = exec::kPredicateXor;
    }
    return slow(code, in.dsts.at(0) == kNone ? discard_predicate_ : predicate(in.dsts[0]), a, b);
  }
  const unsigned bytes = ptx::size_of(in.mod.type);
  const bool wide = bytes == 8;
  const uint16_t a = source(in.srcs.at(0), wide);
  const uint16_t b = in.srcs.size() > 1 ? source(in.srcs[1], wide) : uint16_t{0};
  const Dest d = destination(in.dsts.at(0));
  switch (in.op) {
    case Opcode::kAnd:
      return fast(wide ? exec::kAnd64 : exec::kAnd32, d, a, b);
    case Opcode::kOr:
      return fast(wide ? exec::kOr64 : exec::kOr32, d, a, b);
    case Opcode::kXor:
      return fast(wide ? exec::kXor64 : exec::kXor32, d, a, b);
    case Opcode::kNot:
      return fast(wide ? exec::kNot64 : (bytes == 2 ? exec::kNot16 : exec::kNot32), d, a);
    default:
      slow(wide ? exec::kCnot64 : (bytes == 2 ? exec::kCnot16 : exec::kCnot32), d.row, a);
  }
}

void Decoder::shift(const Instr& in) {
  if (in.op == Opcode::kShf) {
    const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false),
                   c = source(in.srcs.at(2), false);
    const Dest d = destination(in.dsts.at(0));
    if (in.mod.mode)  // wrap
      return fast(in.mod.shf_left ? exec::kShfLeft : exec::kShfRight, d, a, b, c);
    return slow(in.mod.shf_left ? exec::kShfLeftClamp : exec::kShfRightClamp, d.row, a, b, c);
  }
  const bool left = in.op == Opcode::kShl, s = ptx::is_signed(in.mod.type);
  const unsigned bytes = ptx::size_of(in.mod.type);
  const uint16_t a = source(in.srcs.at(0), bytes == 8), b = source(in.srcs.at(1), false);
  const Dest d = destination(in.dsts.at(0));
  switch (bytes) {
    case 2:
      return slow(left ? exec::kShl16 : (s ? exec::kShrS16 : exec::kShrU16), d.row, a, b);
    case 4:
      return fast(left ? exec::kShl32 : (s ? exec::kShrS32 : exec::kShrU32), d, a, b);
    default:
      return fast(left ? exec::kShl64 : (s ? exec::kShrS64 : exec::kShrU64), d, a, b);
  }
}

/// The operation code of a comparison.
uint16_t Decoder::compare_codes(const Instr& in, Type type) {
  const Compare c = in.mod.compare;
  const auto pick = [&](uint16_t eq, uint16_t ne, uint16_t lt, uint16_t le, uint16_t gt,
                        uint16_t ge) -> uint16_t {
    switch (c) {
      case Compare::kEq:
        return eq;
      case Compare::kNe:
        return ne;
      case Compare::kLt:
      case Compare::kLo:
        return lt;
      case Compare::kLe:
      case Compare::kLs:
        return le;
      case Compare::kGt:
      case Compare::kHi:
        return gt;
      case Compare::kGe:
      case Compare::kHs:
        return ge;
      default:
        unsupported("this comparison of integers");
    }
  };
  using namespace exec;
  if (ptx::is_float(type)) {
    const bool wide = type == Type::kF64;
    switch (c) {
      case Compare::kEq:
        return wide ? kSetpEqF64 : kSetpEqF32;
      case Compare::kNe:
        return wide ? kSetpNeF64 : kSetpNeF32;
      case Compare::kLt:
        return wide ? kSetpLtF64 : kSetpLtF32;
      case Compare::kLe:
        return wide ? kSetpLeF64 : kSetpLeF32;
      case Compare::kGt:
        return wide ? kSetpGtF64 : kSetpGtF32;
      case Compare::kGe:
        return wide ? kSetpGeF64 : kSetpGeF32;
      case Compare::kEqu:
        return wide ? kSetpEquF64 : kSetpEquF32;
      case Compare::kNeu:
        return wide ? kSetpNeuF64 : kSetpNeuF32;
      case Compare::kLtu:
        return wide ? kSetpLtuF64 : kSetpLtuF32;
      case Compare::kLeu:
        return wide ? kSetpLeuF64 : kSetpLeuF32;
      case Compare::kGtu:
        return wide ? kSetpGtuF64 : kSetpGtuF32;
      case Compare::kGeu:
        return wide ? kSetpGeuF64 : kSetpGeuF32;
      case Compare::kNum:
        return wide ? kSetpNumF64 : kSetpNumF32;
      case Compare::kNan:
        return wide ? kSetpNanF64 : kSetpNanF32;
      default:
        unsupported("this comparison of floating-point values");
    }
  }
  const bool s = ptx::is_signed(type);
  if (ptx::size_of(type) == 8)
    return s ? pick(kSetpEq64, kSetpNe64, kSetpLtS64, kSetpLeS64, kSetpGtS64, kSetpGeS64)
             : pick(kSetpEq64, kSetpNe64, kSetpLtU64, kSetpLeU64, kSetpGtU64, kSetpGeU64);
  return s ? pick(kSetpEq32, kSetpNe32, kSetpLtS32, kSetpLeS32, kSetpGtS32, kSetpGeS32)
           : pick(kSetpEq32, kSetpNe32, kSetpLtU32, kSetpLeU32, kSetpGtU32, kSetpGeU32);
}

void Decoder::compare(const Instr& in) {
  const bool set = in.op == Opcode::kSet;
  const Type type = set ? in.mod.src_type : in.mod.type;
  const bool wide = ptx::size_of(type) == 8;
  uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide);
  if (ptx::size_of(type) == 2 && ptx::is_signed(type)) {
    a = fast_temporary(exec::kExtS16, false, a);
    b = fast_temporary(exec::kExtS16, false, b);
  }
  if (in.mod.ftz && type == Type::kF32) {
    const uint16_t fa = temporary(false), fb = temporary(false);
    slow_unguarded(exec::kFlushF32, fa, a);
    slow_unguarded(exec::kFlushF32, fb, b);
    a = fa;
    b = fb;
  }
  const uint16_t code = compare_codes(in, type);
  const bool combine = in.mod.bool_op != ptx::BoolOp::kNone;
  const bool two = in.dsts.size() > 1;
  if (!set && !combine && !two)
    return slow(code, in.dsts.at(0) == kNone ? discard_predicate_ : predicate(in.dsts[0]), a, b);

  const uint16_t t = temporary_predicate();
  slow_unguarded(code, t, a, b);
  uint16_t holds = static_cast<uint16_t>(t * 2), fails = static_cast<uint16_t>(t * 2 + 1);
  if (combine) {
    const uint16_t c = predicate_operand(in.srcs.at(2));
    const uint16_t bool_code = in.mod.bool_op == ptx::BoolOp::kAnd  ? exec::kPredicateAnd
                               : in.mod.bool_op == ptx::BoolOp::kOr ? exec::kPredicateOr
                                                                    : exec::kPredicateXor;
    const uint16_t p = temporary_predicate(), q = temporary_predicate();
    slow_unguarded(bool_code, p, holds, c);
    slow_unguarded(bool_code, q, fails, c);
    holds = static_cast<uint16_t>(p * 2);
    fails = static_cast<uint16_t>(q * 2);
  }
  if (set) {
    uint32_t yes = ptx::size_of(in.mod.type) == 2 ? 0xffffu : 0xffffffffu;
    if (in.mod.type == Type::kF32) yes = 0x3f800000u;  // 1.0
    if (in.mod.type == Type::kF16) yes = 0x3c00u;
    if (in.mod.type == Type::kBF16) yes = 0x3f80u;
    if (ptx::size_of(in.mod.type) > 4 || in.mod.type == Type::kF16x2 ||
        in.mod.type == Type::kBF16x2)
      unsupported("set with a result of this type");
    return fast(exec::kSelect32, destination(in.dsts.at(0)), constant(yes, false),
                constant(0, false), holds);
  }
  if (in.dsts[0] != kNone) slow(exec::kPredicateAnd, predicate(in.dsts[0]), holds, holds);
  if (two && in.dsts[1] != kNone) slow(exec::kPredicateAnd, predicate(in.dsts[1]), fails, fails);
}

void Decoder::select(const Instr& in) {
  const bool wide = ptx::size_of(in.mod.type) == 8;
  const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide);
  if (in.op == Opcode::kSelp) {
    const uint16_t c = predicate_operand(in.srcs.at(2));
    return fast(wide ? exec::kSelect64 : exec::kSelect32, destination(in.dsts.at(0)), a, b, c);
  }
  const uint16_t c = source(in.srcs.at(2), false);
  const uint16_t d = destination(in.dsts.at(0)).row;
  if (in.mod.src_type == Type::kS32)
    return slow(wide ? exec::kSlctS32x64 : exec::kSlctS32x32, d, a, b, c);
  if (in.mod.ftz) return slow(wide ? exec::kSlctF32Zx64 : exec::kSlctF32Zx32, d, a, b, c);
  slow(wide ? exec::kSlctF32x64 : exec::kSlctF32x32, d, a, b, c);
}

void Decoder::move_instruction(const Instr& in) {
  if (in.dsts.size() > 1) return unpack(in);
  if (in.srcs.size() > 1) return pack(in);
  if (in.mod.type == Type::kPred) {
    const uint16_t a = predicate_operand(in.srcs.at(0));
    return slow(exec::kPredicateAnd,
                in.dsts.at(0) == kNone ? discard_predicate_ : predicate(in.dsts[0]), a, a);
  }
  const bool wide = ptx::size_of(in.mod.type) == 8;
  const Operand& s = in.srcs.at(0);
  if (s.kind == Operand::Kind::kSpecial) {
    const int which = clock_part(s.special);
    if (which >= 0)
      return slow(exec::kClock, destination(in.dsts.at(0)).row, 0, 0, 0,
                  clock_operand(which == 2 && !wide ? 0 : which));
    if (ptx::size_of(in.mod.type) == 2)
      return fast(exec::kExtU16, destination(in.dsts.at(0)), special(s.special));
  }
  const uint16_t a = source(s, wide);
  move(destination(in.dsts.at(0)), a, wide);
}

void Decoder::pack(const Instr& in) {
  const bool wide = ptx::size_of(in.mod.type) == 8;
  std::vector<uint16_t> s;
  for (const Operand& o : in.srcs) s.push_back(source(o, false));
  const Dest d = destination(in.dsts.at(0));
  if (wide && s.size() == 2) return fast(exec::kPack64, d, s[0], s[1]);
  if (!wide && s.size() == 2 && ptx::size_of(in.mod.type) == 4)
    return slow(exec::kPack32, d.row, s[0], s[1]);
  if (s.size() != 4 || ptx::size_of(in.mod.type) < 4)
    unsupported("a mov that packs these operands");
  // Piece by piece into a temporary, so that no source is overwritten early.
  const uint16_t t = temporary(wide);
  slow_unguarded(wide ? exec::kInsertHalf : exec::kInsertByte, t, 0, s[0], 0, 0);
  for (int i = 1; i < 4; ++i)
    slow_unguarded(wide ? exec::kInsertHalf : exec::kInsertByte, t, t, s[static_cast<size_t>(i)], 0,
                   i);
  move(d, t, wide);
}

void Decoder::unpack(const Instr& in) {
  const unsigned bytes = ptx::size_of(in.mod.type);
  const bool wide = bytes == 8;
  uint16_t a = source(in.srcs.at(0), wide);
  const size_t n = in.dsts.size();
  if ((n != 2 && n != 4) || (n == 4 && bytes < 4) || bytes < 4)
    unsupported("a mov that unpacks into these registers");
  if (!wide) {
    // A destination may share the row of the source.
    const uint16_t t = temporary(false);
    emit(exec::Op{exec::kMov32, t, a, 0, 0, 0, 0});
    a = t;
  }
  for (size_t i = 0; i < n; ++i) {
    if (in.dsts[i] == kNone) continue;
    const Dest d = destination(in.dsts[i]);
    const int32_t part = static_cast<int32_t>(i);
    if (wide && n == 2)
      fast(i == 0 ? exec::kCvtU32U64 : exec::kHi64, d, a);
    else if (wide)
      slow(exec::kQuarter, d.row, a, 0, 0, part);
    else if (n == 2)
      slow(i == 0 ? exec::kHalf0 : exec::kHalf1, d.row, a);
    else
      slow(exec::kByte, d.row, a, 0, 0, part);
  }
}

}  // namespace nearwarp::runtime
