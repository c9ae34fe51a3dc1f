// Decoder: integer and floating-point arithmetic.
#include "host/functional/decode/decoder.h"

namespace nearwarp::runtime {

using exec::CarryFlags;
using exec::FloatFlags;
using exec::FloatOp;
using exec::Round;
using ptx::MulPart;
using ptx::Opcode;
using ptx::Type;

namespace {

Round round_of(ptx::Rounding r) {
  switch (r) {
    case ptx::Rounding::kRz:
    case ptx::Rounding::kRzi:
      return Round::kZero;
    case ptx::Rounding::kRm:
    case ptx::Rounding::kRmi:
      return Round::kDown;
    case ptx::Rounding::kRp:
    case ptx::Rounding::kRpi:
      return Round::kUp;
    case ptx::Rounding::kRna:
      return Round::kNearestAway;
    default:
      return Round::kNearest;
  }
}

/// Picks by width of the type: 16, 32 or 64 bits.
uint16_t by_width(Type type, uint16_t c16, uint16_t c32, uint16_t c64) {
  switch (ptx::size_of(type)) {
    case 2:
      return c16;
    case 8:
      return c64;
    default:
      return c32;
  }
}

}  // namespace

bool Decoder::arithmetic(const Instr& in) {
  switch (in.op) {
    case Opcode::kAdd:
    case Opcode::kSub:
      add_sub(in);
      return true;
    case Opcode::kMul:
    case Opcode::kMad:
      multiply(in);
      return true;
    case Opcode::kFma:
      float_op(FloatOp::kFma, in);
      return true;
    case Opcode::kMul24:
    case Opcode::kMad24:
      multiply24(in);
      return true;
    case Opcode::kDiv:
    case Opcode::kRem:
      divide(in);
      return true;
    case Opcode::kNeg:
    case Opcode::kAbs:
      neg_abs(in);
      return true;
    case Opcode::kMin:
    case Opcode::kMax:
      min_max(in);
      return true;
    case Opcode::kAddc:
    case Opcode::kSubc:
      carry(in, false);
      return true;
    case Opcode::kMadc:
      carry(in, true);
      return true;
    case Opcode::kSad: {
      const bool wide = ptx::size_of(in.mod.type) == 8, s = ptx::is_signed(in.mod.type);
      const uint16_t code =
          by_width(in.mod.type, s ? exec::kSadS16 : exec::kSadU16,
                   s ? exec::kSadS32 : exec::kSadU32, s ? exec::kSadS64 : exec::kSadU64);
      const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide),
                     c = source(in.srcs.at(2), wide);
      slow(code, destination(in.dsts.at(0)).row, a, b, c);
      return true;
    }
    case Opcode::kDp4a:
    case Opcode::kDp2a: {
      const int kind = (ptx::is_signed(in.mod.type) ? 1 : 0) |
                       (ptx::is_signed(in.mod.src_type) ? 2 : 0) | (in.mod.mode ? 4 : 0);
      const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false),
                     c = source(in.srcs.at(2), false);
      slow(in.op == Opcode::kDp4a ? exec::kDp4a : exec::kDp2a, destination(in.dsts.at(0)).row, a, b,
           c, kind);
      return true;
    }
    case Opcode::kRcp:
      float_op(FloatOp::kRcp, in);
      return true;
    case Opcode::kSqrt:
      float_op(FloatOp::kSqrt, in);
      return true;
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
      transcendental(in);
      return true;
    case Opcode::kCopysign: {
      const bool wide = in.mod.type == Type::kF64;
      const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide);
      slow(wide ? exec::kCopysignF64 : exec::kCopysignF32, destination(in.dsts.at(0)).row, a, b);
      return true;
    }
    case Opcode::kTestp: {
      const bool wide = in.mod.type == Type::kF64;
      const uint16_t t = temporary(false);
      slow_unguarded(wide ? exec::kTestpF64 : exec::kTestpF32, t, source(in.srcs.at(0), wide), 0, 0,
                     static_cast<int>(in.mod.testp));
      slow(exec::kSetpNe32, predicate(in.dsts.at(0)), t, constant(0, false));
      return true;
    }
    default:
      return false;
  }
}

void Decoder::add_sub(const Instr& in) {
  const bool sub = in.op == Opcode::kSub;
  if (ptx::is_float(in.mod.type)) return float_op(sub ? FloatOp::kSub : FloatOp::kAdd, in);
  if (in.mod.carry_out) return carry(in, false);
  const bool wide = ptx::size_of(in.mod.type) == 8;
  const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide);
  const Dest d = destination(in.dsts.at(0));
  if (in.mod.saturate) {
    if (in.mod.type != Type::kS32) unsupported("add.sat or sub.sat of this type");
    return slow(sub ? exec::kSubSatS32 : exec::kAddSatS32, d.row, a, b);
  }
  fast(sub ? by_width(in.mod.type, exec::kSub16, exec::kSub32, exec::kSub64)
           : by_width(in.mod.type, exec::kAdd16, exec::kAdd32, exec::kAdd64),
       d, a, b);
}

void Decoder::multiply(const Instr& in) {
  const bool mad = in.op == Opcode::kMad;
  if (ptx::is_float(in.mod.type)) return float_op(mad ? FloatOp::kFma : FloatOp::kMul, in);
  if (in.mod.carry_out) return carry(in, true);
  const unsigned bytes = ptx::size_of(in.mod.type);
  const bool wide = bytes == 8, s = ptx::is_signed(in.mod.type);
  const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), wide);
  if (in.mod.mul_part == MulPart::kWide) {
    if (bytes == 8) unsupported("mul.wide of 64 bits");
    const uint16_t c = mad ? source(in.srcs.at(2), bytes == 4) : uint16_t{0};
    const Dest d = destination(in.dsts.at(0));
    if (bytes == 2) {
      if (mad) return slow(s ? exec::kMadWideS16 : exec::kMadWideU16, d.row, a, b, c);
      return slow(s ? exec::kMulWideS16 : exec::kMulWideU16, d.row, a, b);
    }
    if (mad) return fast(s ? exec::kMadWideS32 : exec::kMadWideU32, d, a, b, c);
    return fast(s ? exec::kMulWideS32 : exec::kMulWideU32, d, a, b);
  }
  const uint16_t c = mad ? source(in.srcs.at(2), wide) : uint16_t{0};
  const Dest d = destination(in.dsts.at(0));
  if (in.mod.mul_part == MulPart::kHi) {
    if (mad) {
      if (in.mod.saturate) {
        if (in.mod.type != Type::kS32) unsupported("mad.hi.sat of this type");
        return slow(exec::kMadHiSatS32, d.row, a, b, c);
      }
      return slow(
          by_width(in.mod.type, s ? exec::kMadHiS16 : exec::kMadHiU16,
                   s ? exec::kMadHiS32 : exec::kMadHiU32, s ? exec::kMadHiS64 : exec::kMadHiU64),
          d.row, a, b, c);
    }
    if (bytes == 4) return fast(s ? exec::kMulHiS32 : exec::kMulHiU32, d, a, b);
    return slow(bytes == 2 ? (s ? exec::kMulHiS16 : exec::kMulHiU16)
                           : (s ? exec::kMulHiS64 : exec::kMulHiU64),
                d.row, a, b);
  }
  if (in.mod.saturate) unsupported("mad.lo.sat");
  if (!mad) return fast(by_width(in.mod.type, exec::kMul16, exec::kMul32, exec::kMul64), d, a, b);
  if (bytes == 2) return slow(exec::kMad16, d.row, a, b, c);
  fast(wide ? exec::kMad64 : exec::kMad32, d, a, b, c);
}

void Decoder::multiply24(const Instr& in) {
  const bool mad = in.op == Opcode::kMad24, s = ptx::is_signed(in.mod.type);
  const bool hi = in.mod.mul_part == MulPart::kHi;
  if (in.mod.saturate) unsupported("mad24.sat");
  const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false);
  const uint16_t c = mad ? source(in.srcs.at(2), false) : uint16_t{0};
  const uint16_t code =
      mad ? (hi ? (s ? exec::kMad24HiS : exec::kMad24HiU) : (s ? exec::kMad24LoS : exec::kMad24LoU))
          : (hi ? (s ? exec::kMul24HiS : exec::kMul24HiU)
                : (s ? exec::kMul24LoS : exec::kMul24LoU));
  slow(code, destination(in.dsts.at(0)).row, a, b, c);
}

void Decoder::divide(const Instr& in) {
  const bool rem = in.op == Opcode::kRem, s = ptx::is_signed(in.mod.type);
  if (ptx::is_float(in.mod.type)) return float_op(FloatOp::kDiv, in);
  const unsigned bytes = ptx::size_of(in.mod.type);
  const uint16_t a = source(in.srcs.at(0), bytes == 8), b = source(in.srcs.at(1), bytes == 8);
  const Dest d = destination(in.dsts.at(0));
  if (bytes == 4)
    return fast(rem ? (s ? exec::kRemS32 : exec::kRemU32) : (s ? exec::kDivS32 : exec::kDivU32), d,
                a, b);
  if (bytes == 2)
    return slow(rem ? (s ? exec::kRemS16 : exec::kRemU16) : (s ? exec::kDivS16 : exec::kDivU16),
                d.row, a, b);
  slow(rem ? (s ? exec::kRemS64 : exec::kRemU64) : (s ? exec::kDivS64 : exec::kDivU64), d.row, a,
       b);
}

void Decoder::min_max(const Instr& in) {
  const bool max = in.op == Opcode::kMax, s = ptx::is_signed(in.mod.type);
  const unsigned bytes = ptx::size_of(in.mod.type);
  if (in.mod.abs) unsupported("min or max with .xorsign.abs");
  const uint16_t a = source(in.srcs.at(0), bytes == 8), b = source(in.srcs.at(1), bytes == 8);
  const Dest d = destination(in.dsts.at(0));
  if (in.mod.type == Type::kF64) return fast(max ? exec::kMaxF64 : exec::kMinF64, d, a, b);
  if (in.mod.type == Type::kF32) {
    if (in.mod.relu_nan)
      return slow(max ? (in.mod.ftz ? exec::kMaxNanF32Z : exec::kMaxNanF32)
                      : (in.mod.ftz ? exec::kMinNanF32Z : exec::kMinNanF32),
                  d.row, a, b);
    return fast(max ? (in.mod.ftz ? exec::kMaxF32Z : exec::kMaxF32)
                    : (in.mod.ftz ? exec::kMinF32Z : exec::kMinF32),
                d, a, b);
  }
  switch (bytes) {
    case 2:
      return slow(max ? (s ? exec::kMaxS16 : exec::kMaxU16) : (s ? exec::kMinS16 : exec::kMinU16),
                  d.row, a, b);
    case 4:
      return fast(max ? (s ? exec::kMaxS32 : exec::kMaxU32) : (s ? exec::kMinS32 : exec::kMinU32),
                  d, a, b);
    default:
      return fast(max ? (s ? exec::kMaxS64 : exec::kMaxU64) : (s ? exec::kMinS64 : exec::kMinU64),
                  d, a, b);
  }
}

void Decoder::neg_abs(const Instr& in) {
  const bool neg = in.op == Opcode::kNeg;
  const unsigned bytes = ptx::size_of(in.mod.type);
  const uint16_t a = source(in.srcs.at(0), bytes == 8);
  const Dest d = destination(in.dsts.at(0));
  if (in.mod.type == Type::kF64) return fast(neg ? exec::kNegF64 : exec::kAbsF64, d, a);
  if (in.mod.type == Type::kF32) {
    if (in.mod.ftz) return slow(neg ? exec::kNegF32Z : exec::kAbsF32Z, d.row, a);
    return fast(neg ? exec::kNegF32 : exec::kAbsF32, d, a);
  }
  switch (bytes) {
    case 2:
      return slow(neg ? exec::kNeg16 : exec::kAbs16, d.row, a);
    case 4:
      return fast(neg ? exec::kNeg32 : exec::kAbs32, d, a);
    default:
      if (neg) return fast(exec::kNeg64, d, a);
      return slow(exec::kAbs64, d.row, a);
  }
}

void Decoder::float_op(FloatOp kind, const Instr& in) {
  const bool wide = in.mod.type == Type::kF64;
  if (!wide && in.mod.type != Type::kF32) unsupported("arithmetic of this type");
  const uint16_t a = source(in.srcs.at(0), wide);
  const uint16_t b = in.srcs.size() > 1 ? source(in.srcs[1], wide) : uint16_t{0};
  const uint16_t c = in.srcs.size() > 2 ? source(in.srcs[2], wide) : uint16_t{0};
  const Dest d = destination(in.dsts.at(0));
  const Round round = round_of(in.mod.rounding);
  const bool ftz = in.mod.ftz && !wide;
  if (round != Round::kNearest || in.mod.saturate) {
    const FloatFlags flags{kind, round, ftz, in.mod.saturate, wide};
    return slow(exec::kFloatRounded, d.row, a, b, c, flags.pack());
  }
  struct Codes {
    uint16_t f32, f32z, f64;
  };
  static constexpr Codes kCodes[] = {{exec::kAddF32, exec::kAddF32Z, exec::kAddF64},
                                     {exec::kSubF32, exec::kSubF32Z, exec::kSubF64},
                                     {exec::kMulF32, exec::kMulF32Z, exec::kMulF64},
                                     {exec::kFmaF32, exec::kFmaF32Z, exec::kFmaF64},
                                     {exec::kDivF32, exec::kDivF32Z, exec::kDivF64},
                                     {exec::kRcpF32, exec::kRcpF32Z, exec::kRcpF64},
                                     {exec::kSqrtF32, exec::kSqrtF32Z, exec::kSqrtF64}};
  const Codes& codes = kCodes[static_cast<int>(kind)];
  fast(wide ? codes.f64 : (ftz ? codes.f32z : codes.f32), d, a, b, c);
}

void Decoder::carry(const Instr& in, bool mad) {
  CarryFlags f{};
  f.wide = ptx::size_of(in.mod.type) == 8;
  f.subtract = in.op == Opcode::kSub || in.op == Opcode::kSubc;
  f.carry_in = in.op == Opcode::kAddc || in.op == Opcode::kSubc || in.op == Opcode::kMadc;
  f.carry_out = in.mod.carry_out;
  f.mad = mad;
  f.high = in.mod.mul_part == MulPart::kHi;
  f.is_signed = ptx::is_signed(in.mod.type);
  const uint16_t a = source(in.srcs.at(0), f.wide), b = source(in.srcs.at(1), f.wide);
  const uint16_t c = mad ? source(in.srcs.at(2), f.wide) : uint16_t{0};
  slow(exec::kCarry, destination(in.dsts.at(0)).row, a, mad ? c : b, mad ? b : c, f.pack());
}

void Decoder::transcendental(const Instr& in) {
  const bool z = in.mod.ftz;
  if (in.mod.type == Type::kF64) {
    if (in.op != Opcode::kRsqrt) unsupported("this function in double precision");
    const uint16_t a = source(in.srcs.at(0), true);
    return slow(exec::kRsqrtF64, destination(in.dsts.at(0)).row, a);
  }
  uint16_t code = 0;
  switch (in.op) {
    case Opcode::kRsqrt:
      code = z ? exec::kRsqrtF32Z : exec::kRsqrtF32;
      break;
    case Opcode::kSin:
      code = z ? exec::kSinF32Z : exec::kSinF32;
      break;
    case Opcode::kCos:
      code = z ? exec::kCosF32Z : exec::kCosF32;
      break;
    case Opcode::kLg2:
      code = z ? exec::kLg2F32Z : exec::kLg2F32;
      break;
    case Opcode::kEx2:
      code = z ? exec::kEx2F32Z : exec::kEx2F32;
      break;
    default:
      code = exec::kTanhF32;
  }
  const uint16_t a = source(in.srcs.at(0), false);
  fast(code, destination(in.dsts.at(0)), a);
}

}  // namespace nearwarp::runtime
