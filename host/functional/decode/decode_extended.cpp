// Decoder: halves, video instructions, textures, surfaces, matrices.
#include "device/trace/writer.h"
#include "host/functional/decode/decoder.h"
#include "host/functional/instructions/small_floats.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using exec::ExtendedDesc;
using exec::HalfFlags;
using exec::HalfOp;
using ptx::Opcode;
using ptx::Type;

namespace {

bool is_half(Type t) {
  return t == Type::kF16 || t == Type::kF16x2 || t == Type::kBF16 || t == Type::kBF16x2;
}

std::optional<HalfOp> half_op(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
      return HalfOp::kAdd;
    case Opcode::kSub:
      return HalfOp::kSub;
    case Opcode::kMul:
      return HalfOp::kMul;
    case Opcode::kFma:
    case Opcode::kMad:
      return HalfOp::kFma;
    case Opcode::kNeg:
      return HalfOp::kNeg;
    case Opcode::kAbs:
      return HalfOp::kAbs;
    case Opcode::kMin:
      return HalfOp::kMin;
    case Opcode::kMax:
      return HalfOp::kMax;
    case Opcode::kEx2:
      return HalfOp::kEx2;
    case Opcode::kTanh:
      return HalfOp::kTanh;
    default:
      return {};
  }
}

HalfFlags half_flags(const compiler::Instruction& in, Type type) {
  HalfFlags f{};
  f.bf16 = type == Type::kBF16 || type == Type::kBF16x2;
  f.pair = ptx::size_of(type) == 4;
  f.ftz = in.mod.ftz;
  f.saturate = in.mod.saturate;
  f.relu = in.mod.relu;
  f.nan = in.mod.relu_nan;
  f.xorsign = in.mod.abs;
  f.zero_outside = in.mod.zero_outside;
  f.compare = static_cast<uint8_t>(in.mod.compare);
  return f;
}

}  // namespace

bool Decoder::extended(const Instr& in) {
  const Type type = in.op == Opcode::kSetp  ? in.mod.type
                    : in.op == Opcode::kSet ? in.mod.src_type
                                            : in.mod.type;
  switch (in.op) {
    case Opcode::kTex:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kMma:
    case Opcode::kWarpMma:
    case Opcode::kTensorSize:
    case Opcode::kTensorLoad:
    case Opcode::kTensorStore:
    case Opcode::kTensorReduce:
      extended_operation(in);
      return true;
    case Opcode::kVideo:
    case Opcode::kSzext:
    case Opcode::kFns: {
      const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false);
      const uint16_t c = in.srcs.size() > 2 ? source(in.srcs[2], false) : uint16_t{0};
      const uint16_t d = destination(in.dsts.at(0)).row;
      if (in.op == Opcode::kVideo)
        slow(exec::kVideo, d, a, b, c, static_cast<int32_t>(in.mod.detail));
      else if (in.op == Opcode::kFns)
        slow(exec::kFns, d, a, b, c);
      else
        slow(exec::kSzext, d, a, b, 0, (ptx::is_signed(type) ? 1 : 0) | (in.mod.mode ? 2 : 0));
      return true;
    }
    case Opcode::kCvt:
      if (in.mod.detail != 0) {
        convert_small(in);
        return true;
      }
      if (in.srcs.size() != 2) return false;
      convert_pair(in);
      return true;
    case Opcode::kSetp:
    case Opcode::kSet:
      if (!is_half(type)) return false;
      compare_half(in);
      return true;
    default:
      break;
  }
  const std::optional<HalfOp> op = is_half(type) ? half_op(in.op) : std::nullopt;
  if (!op) return false;
  HalfFlags f = half_flags(in, type);
  f.op = *op;
  const uint16_t a = source(in.srcs.at(0), false);
  const uint16_t b = in.srcs.size() > 1 ? source(in.srcs[1], false) : uint16_t{0};
  const uint16_t c = in.srcs.size() > 2 ? source(in.srcs[2], false) : uint16_t{0};
  slow(exec::kHalf, destination(in.dsts.at(0)).row, a, b, c, f.pack());
  return true;
}

void Decoder::convert_small(const Instr& in) {
  exec::SmallFlags f{};
  f.detail = ptx::SmallFloatDetail::unpack(in.mod.detail);
  f.rounding = in.mod.rounding;
  f.relu = in.mod.relu;
  f.saturate = in.mod.saturate;
  f.from_halves = in.mod.src_type == Type::kF16x2 || in.mod.src_type == Type::kBF16x2;
  const uint16_t a = source(in.srcs.at(0), false);
  const uint16_t b = in.srcs.size() > 1 ? source(in.srcs[1], false) : uint16_t{0};
  const uint16_t c = in.srcs.size() > 2 ? source(in.srcs[2], false) : uint16_t{0};
  slow(exec::kConvertSmall, destination(in.dsts.at(0)).row, a, b, c, f.pack());
}

void Decoder::convert_pair(const Instr& in) {
  exec::ConvertFlags f{};
  f.from = exec::Number::kF32;
  f.to = in.mod.type == Type::kF16x2 ? exec::Number::kF16 : exec::Number::kBF16;
  f.round = in.mod.rounding == ptx::Rounding::kRz ? exec::Round::kZero : exec::Round::kNearest;
  f.reg_bytes = 2;
  const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false);
  slow(exec::kConvertPair, destination(in.dsts.at(0)).row, a, b, 0,
       f.pack() | (in.mod.relu ? 1 << 24 : 0));
}

/// setp and set of halves: predicates first, then the combination, then what set stores.
void Decoder::compare_half(const Instr& in) {
  const bool set = in.op == Opcode::kSet;
  const Type type = set ? in.mod.src_type : in.mod.type;
  const HalfFlags f = half_flags(in, type);
  const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false);
  uint16_t p = temporary_predicate(), q = temporary_predicate();
  slow_unguarded(exec::kHalfCompare, p, a, b, static_cast<uint16_t>(q + 1), f.pack());
  if (in.mod.bool_op != ptx::BoolOp::kNone) {
    const uint16_t c = predicate_operand(in.srcs.at(2));
    const uint16_t code = in.mod.bool_op == ptx::BoolOp::kAnd  ? exec::kPredicateAnd
                          : in.mod.bool_op == ptx::BoolOp::kOr ? exec::kPredicateOr
                                                               : exec::kPredicateXor;
    const uint16_t r = temporary_predicate(), s = temporary_predicate();
    slow_unguarded(code, r, static_cast<uint16_t>(p * 2), c);
    slow_unguarded(code, s, static_cast<uint16_t>(q * 2), c);
    p = r;
    q = s;
  }
  const auto operand = [](uint16_t predicate) { return static_cast<uint16_t>(predicate * 2); };
  if (!set) {
    if (in.dsts.at(0) != kNone)
      slow(exec::kPredicateAnd, predicate(in.dsts[0]), operand(p), operand(p));
    if (in.dsts.size() > 1 && in.dsts[1] != kNone)
      slow(exec::kPredicateAnd, predicate(in.dsts[1]), operand(q), operand(q));
    return;
  }
  // 1.0 in the result's format, or all ones.
  uint32_t yes = 0xffffffffu;
  if (in.mod.type == Type::kF16 || in.mod.type == Type::kF16x2) yes = 0x3c003c00u;
  if (in.mod.type == Type::kBF16 || in.mod.type == Type::kBF16x2) yes = 0x3f803f80u;
  if (in.mod.type == Type::kF32) yes = 0x3f800000u;
  const uint16_t zero = constant(0, false);
  if (f.pair) {
    const uint16_t low =
        fast_temporary(exec::kSelect32, false, constant(yes & 0xffff, false), zero, operand(p));
    const uint16_t high = fast_temporary(exec::kSelect32, false, constant(yes & 0xffff0000u, false),
                                         zero, operand(q));
    return fast(exec::kOr32, destination(in.dsts.at(0)), low, high);
  }
  if (ptx::size_of(in.mod.type) == 2) yes &= 0xffff;
  fast(exec::kSelect32, destination(in.dsts.at(0)), constant(yes, false), zero, operand(p));
}

void Decoder::extended_operation(const Instr& in) {
  ExtendedDesc desc;
  desc.instruction = instr_id_;
  desc.detail = in.mod.detail;
  desc.type = static_cast<uint8_t>(in.mod.type);
  desc.source_type = static_cast<uint8_t>(in.mod.src_type);
  desc.guarded = guarded();
  desc.extra = in.mod.mode;
  switch (in.op) {
    case Opcode::kTex:
      desc.kind = ExtendedDesc::Kind::kTexture;
      break;
    case Opcode::kSuld:
      desc.kind = ExtendedDesc::Kind::kSurfaceLoad;
      break;
    case Opcode::kSust:
      desc.kind = ExtendedDesc::Kind::kSurfaceStore;
      break;
    case Opcode::kWarpMma:
      desc.kind = ExtendedDesc::Kind::kWarpMatrix;
      break;
    case Opcode::kTensorSize:
      desc.kind = ExtendedDesc::Kind::kTensorSize;
      break;
    case Opcode::kTensorLoad:
      desc.kind = ExtendedDesc::Kind::kTensorLoad;
      break;
    case Opcode::kTensorStore:
      desc.kind = ExtendedDesc::Kind::kTensorStore;
      break;
    case Opcode::kTensorReduce:
      desc.kind = ExtendedDesc::Kind::kTensorReduce;
      desc.atomic = static_cast<uint8_t>(atom_op(in.mod.atomic));
      break;
    default:
      desc.kind = ExtendedDesc::Kind::kMatrix;
  }
  const bool object = leaves_record(in) || desc.kind == ExtendedDesc::Kind::kTensorSize;
  if (in.srcs.size() > ExtendedDesc::kMaxSources || in.dsts.size() > ExtendedDesc::kMaxDestinations)
    unsupported("an instruction with this many operands");
  for (const Operand& s : in.srcs) {
    bool wide = s.kind == Operand::Kind::kRegister && is_wide(s.reg);
    if (object && desc.num_sources == 0) wide = true;  // the handle
    if (wide && desc.num_sources < 32) desc.wide |= 1u << desc.num_sources;
    desc.sources[desc.num_sources++] = source(s, wide);
  }
  for (const compiler::RegId d : in.dsts)
    desc.destinations[desc.num_destinations++] = d == kNone ? exec::kNoRow : destination(d).row;
  if (object) trace_words_ += trace::kMaxRecordWords;
  exec::Op op;
  op.code = exec::kExtended;
  op.x = guard();
  op.imm = static_cast<int32_t>(out_.extended.size());
  out_.extended.push_back(desc);
  emit(op);
}

}  // namespace nearwarp::runtime
