// Decoder: conversions between number formats and between address spaces.
#include "host/functional/decode/decoder.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using exec::ConvertFlags;
using exec::Number;
using exec::Round;
using ptx::Space;
using ptx::Type;

namespace {

Number number_of(Type t, bool* ok) {
  *ok = true;
  switch (t) {
    case Type::kU8:
    case Type::kB8:
      return Number::kU8;
    case Type::kS8:
      return Number::kS8;
    case Type::kU16:
    case Type::kB16:
      return Number::kU16;
    case Type::kS16:
      return Number::kS16;
    case Type::kU32:
    case Type::kB32:
      return Number::kU32;
    case Type::kS32:
      return Number::kS32;
    case Type::kU64:
    case Type::kB64:
      return Number::kU64;
    case Type::kS64:
      return Number::kS64;
    case Type::kF16:
      return Number::kF16;
    case Type::kBF16:
      return Number::kBF16;
    case Type::kF32:
      return Number::kF32;
    case Type::kF64:
      return Number::kF64;
    default:
      *ok = false;
      return Number::kU32;
  }
}

/// The fast code of a conversion to or from floating point; 0 if there is none. Registers are as
/// wide as the formats.
uint16_t float_code(const ConvertFlags& f, bool source_wide) {
  const Number from = f.from, to = f.to;
  if (source_wide != (exec::bits_of(from) == 64) || (f.reg_bytes == 8) != (exec::bits_of(to) == 64))
    return 0;
  if (f.saturate)
    return !f.ftz && !f.integral && from == Number::kF32 && to == Number::kF32 ? exec::kSatF32 : 0;
  if (f.ftz) return 0;
  // Conversions to integers say by .rzi how they round.
  const bool to_integer = !exec::is_float(to);
  if (f.integral && !to_integer) {
    if (from != to) return 0;
    const bool wide = from == Number::kF64;
    if (from != Number::kF32 && !wide) return 0;
    switch (f.round) {
      case Round::kZero:
        return wide ? exec::kTruncF64 : exec::kTruncF32;
      case Round::kDown:
        return wide ? exec::kFloorF64 : exec::kFloorF32;
      case Round::kUp:
        return wide ? exec::kCeilF64 : exec::kCeilF32;
      default:
        return wide ? exec::kRintF64 : exec::kRintF32;
    }
  }
  struct Pair {
    Number from, to;
    Round round;
    uint16_t code;
  };
  static constexpr Pair kPairs[] = {
      {Number::kS32, Number::kF32, Round::kNearest, exec::kCvtF32S32},
      {Number::kU32, Number::kF32, Round::kNearest, exec::kCvtF32U32},
      {Number::kS64, Number::kF32, Round::kNearest, exec::kCvtF32S64},
      {Number::kU64, Number::kF32, Round::kNearest, exec::kCvtF32U64},
      {Number::kS64, Number::kF64, Round::kNearest, exec::kCvtF64S64},
      {Number::kF64, Number::kF32, Round::kNearest, exec::kCvtF32F64},
      {Number::kF32, Number::kF16, Round::kNearest, exec::kCvtF16F32},
      {Number::kF32, Number::kS32, Round::kZero, exec::kCvtS32F32},
      {Number::kF32, Number::kU32, Round::kZero, exec::kCvtU32F32},
      {Number::kF64, Number::kS32, Round::kZero, exec::kCvtS32F64},
  };
  for (const Pair& p : kPairs)
    if (p.from == from && p.to == to && p.round == f.round) return p.code;
  // Exact ones, whatever the rounding.
  if (from == Number::kS32 && to == Number::kF64) return exec::kCvtF64S32;
  if (from == Number::kU32 && to == Number::kF64) return exec::kCvtF64U32;
  if (from == Number::kF32 && to == Number::kF64) return exec::kCvtF64F32;
  return from == Number::kF16 && to == Number::kF32 ? exec::kCvtF32F16 : 0;
}

}  // namespace

void Decoder::convert(const Instr& in) {
  bool from_ok, to_ok;
  const Number from = number_of(in.mod.src_type, &from_ok), to = number_of(in.mod.type, &to_ok);
  if (!from_ok || !to_ok) unsupported("cvt between these types");
  const Operand& s = in.srcs.at(0);
  const bool source_wide =
      s.kind == Operand::Kind::kRegister ? is_wide(s.reg) : ptx::size_of(in.mod.src_type) == 8;
  const uint16_t a = source(s, source_wide);
  const uint32_t dst_bytes = in.dsts.at(0) == kNone ? 4u : reg_bytes(in.dsts[0]);
  const Dest d = destination(in.dsts.at(0));
  ConvertFlags f{};
  f.from = from;
  f.to = to;
  f.ftz = in.mod.ftz;
  f.saturate = in.mod.saturate;
  f.reg_bytes = static_cast<uint8_t>(dst_bytes < 2 ? 2 : dst_bytes);
  switch (in.mod.rounding) {
    case ptx::Rounding::kRz:
      f.round = Round::kZero;
      break;
    case ptx::Rounding::kRm:
      f.round = Round::kDown;
      break;
    case ptx::Rounding::kRp:
      f.round = Round::kUp;
      break;
    case ptx::Rounding::kRna:
      f.round = Round::kNearestAway;
      break;
    case ptx::Rounding::kRni:
      f.integral = true;
      break;
    case ptx::Rounding::kRzi:
      f.integral = true;
      f.round = Round::kZero;
      break;
    case ptx::Rounding::kRmi:
      f.integral = true;
      f.round = Round::kDown;
      break;
    case ptx::Rounding::kRpi:
      f.integral = true;
      f.round = Round::kUp;
      break;
    default:
      f.round = Round::kNearest;
  }
  // The common cases have fast codes.
  const bool plain = !f.ftz && !f.saturate;
  const bool from32 = from == Number::kU32 || from == Number::kS32;
  uint16_t code = 0;
  bool found = false;
  const bool narrow_regs = !source_wide && dst_bytes == 4;
  const bool to64 = to == Number::kU64 || to == Number::kS64;
  if (plain && source_wide && dst_bytes == 8 && from32 && to64)
    code = from == Number::kS32 ? exec::kLowS64 : exec::kLowU64;
  else if (plain && !source_wide && dst_bytes == 8 && from == Number::kU32 && to <= Number::kS64 &&
           to >= Number::kU64)
    code = exec::kCvtU64U32;
  else if (plain && !source_wide && dst_bytes == 8 && from == Number::kS32 && to <= Number::kS64 &&
           to >= Number::kU64)
    code = exec::kCvtS64S32;
  else if (plain && source_wide && dst_bytes == 4 &&
           (from == Number::kU64 || from == Number::kS64) &&
           (to == Number::kU32 || to == Number::kS32))
    code = exec::kCvtU32U64;
  else if (plain && narrow_regs && from32 && (to == Number::kU32 || to == Number::kS32))
    code = exec::kMov32;
  else if (plain && narrow_regs && from == Number::kU8 &&
           (to == Number::kU32 || to == Number::kS32))
    code = exec::kExtU8;
  else if (plain && narrow_regs && from == Number::kU16 &&
           (to == Number::kU32 || to == Number::kS32))
    code = exec::kExtU16;
  else if (plain && narrow_regs && from == Number::kS8 &&
           (to == Number::kU32 || to == Number::kS32))
    code = exec::kExtS8;
  else if (plain && narrow_regs && from == Number::kS16 &&
           (to == Number::kU32 || to == Number::kS32))
    code = exec::kExtS16;
  else if (plain && !source_wide && dst_bytes == 2 && from32 &&
           (to == Number::kU16 || to == Number::kS16))
    code = exec::kExtU16;
  else if (plain && !source_wide && dst_bytes <= 4 && from <= Number::kS32 && to == Number::kU8)
    code = exec::kExtU8;
  else
    code = float_code(f, source_wide);
  found = code != 0;
  if (found) return fast(code, d, a);
  slow(exec::kConvert, d.row, a, source_wide ? 1 : 0, 0, f.pack());
}

void Decoder::convert_address(const Instr& in) {
  const Operand& s = in.srcs.at(0);
  const bool wide = in.dsts.at(0) == kNone || is_wide(in.dsts[0]);
  if (!wide) unsupported("cvta of 32-bit addresses");
  uint16_t a = source(s, s.kind != Operand::Kind::kRegister || is_wide(s.reg));
  if (s.kind == Operand::Kind::kRegister && !is_wide(s.reg))
    a = fast_temporary(exec::kCvtU64U32, true, a);
  uint64_t window = 0;
  if (in.mod.space == Space::kShared) window = exec::kSharedGenericBase;
  if (in.mod.space == Space::kLocal) window = exec::kLocalGenericBase;
  const Dest d = destination(in.dsts.at(0));
  if (window == 0) return move(d, a, true);
  fast(in.mod.to_space ? exec::kSub64 : exec::kAdd64, d, a, constant(window, true));
}

}  // namespace nearwarp::runtime
