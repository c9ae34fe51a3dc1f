// Instructions of recordings as machine instructions, for traces.
#include "host/recording/accel_sim/machine_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/functional/compiler/lane_bytes.h"
#include "host/functional/ptx/details.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::sass {
namespace {

using compiler::Instruction;
using ptx::CopyGroup;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

const char* width_of(const Instruction& in) {
  switch (compiler::lane_bytes(in)) {
    case 1:
      return ".U8";
    case 2:
      return ".U16";
    case 8:
      return ".64";
    case 16:
      return ".128";
    default:
      return "";
  }
}

/// "IADD3", "FADD", "DADD" or "HADD2".
const char* of_type(Type type, const char* integer, const char* f32, const char* f64,
                    const char* f16) {
  if (!ptx::is_float(type)) return integer;
  return type == Type::kF64 ? f64 : type == Type::kF32 ? f32 : f16;
}

std::string memory_opcode(const Instruction& in) {
  const Space space = in.mod.space;
  const bool shared = space == Space::kShared, generic = space == Space::kGeneric;
  const char* width = width_of(in);
  const bool has_result = std::any_of(in.dsts.begin(), in.dsts.end(),
                                      [](compiler::RegId r) { return r != compiler::kNone; });
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
      if (space == Space::kConst || space == Space::kParam) return "LDC";
      if (in.mod.async_copy) {
        const bool past = static_cast<ptx::CopyCache>(in.mod.detail) == ptx::CopyCache::kPastL1;
        return fmt::format("LDGSTS.E{}{}", past ? ".BYPASS" : "", width);
      }
      return fmt::format("{}{}", shared ? "LDS" : generic ? "LD.E" : "LDG.E", width);
    case Opcode::kSt:
      if (in.mod.mode == 1) return "SYNCS.EXCH.64";
      return fmt::format("{}{}", shared ? "STS" : generic ? "ST.E" : "STG.E", width);
    case Opcode::kAtom:
      if (in.mod.atomic == ptx::AtomicOp::kArrive)
        return in.mod.mode == 2 ? "ARRIVES.LDGSTSBAR.64.ARVCNT"
                                : fmt::format("SYNCS.ARRIVE.TRANS64{}{}", has_result ? "" : ".RED",
                                              in.mod.bar_arrive != 0 ? ".OPTOUT" : "");
      return fmt::format("{}{}",
                         shared    ? "ATOMS.ADD"
                         : generic ? "ATOM.E.ADD"
                                   : "ATOMG.E.ADD",
                         width);
    case Opcode::kRed:
      return fmt::format("{}{}", shared ? "REDS.ADD" : "RED.E.ADD", width);
    case Opcode::kTex:
      return "TEX";
    case Opcode::kSuld:
      return "SULD";
    default:
      return "SUST";
  }
}

std::string product_opcode(const Instruction& in) {
  using ptx::Factor;
  const ptx::WarpMatrixDetail d = ptx::WarpMatrixDetail::unpack(in.mod.detail);
  const bool group = d.of_group();
  const bool whole =
      d.a == Factor::kU8 || d.a == Factor::kS8 || d.a == Factor::kU4 || d.a == Factor::kS4;
  const bool f8 = ptx::bits_of(d.a) == 8 && !whole;
  const char* name = d.a == Factor::kB1           ? "B"
                     : whole                      ? "I"
                     : d.a == Factor::kPackedE2M1 ? "O"
                     : f8                         ? "Q"
                                                  : "H";
  std::string text = fmt::format("{}{}MMA.{}", name, group ? "G" : "", d.scales != 0 ? "SF." : "");
  text += group       ? fmt::format("64x{}x{}", d.n, d.k)
          : d.m == 16 ? fmt::format("168{}", d.k)
                      : fmt::format("88{}", d.k);
  if (!whole) text += d.result == ptx::WarpMatrixDetail::Result::kF16 ? ".F16" : ".F32";
  if (d.a == Factor::kBF16) text += ".BF16";
  if (d.a == Factor::kTF32) text += ".TF32";
  if (whole && ptx::bits_of(d.a) == 4) text += ".S4";
  if (d.sparse) text += ".SP";
  return text;
}

/// A division is many machine instructions; it stands as its first one, with a word that machines
/// do not have.
const char* division_opcode(const Instruction& in) {
  return of_type(in.mod.type, "MUFU.RCP.DIV.U32", "MUFU.RCP.DIV", "MUFU.RCP64H.DIV",
                 "MUFU.RCP.DIV");
}

std::string group_opcode(const Instruction& in) {
  switch (static_cast<CopyGroup>(in.mod.detail)) {
    case CopyGroup::kCommit:
      return "LDGDEPBAR";
    case CopyGroup::kBulkCommit:
      return "UTMACMDFLUSH";
    case CopyGroup::kWaitGroup:
    case CopyGroup::kBulkWaitRead:
      return "DEPBAR.LE";
    case CopyGroup::kWaitAll:
    case CopyGroup::kBulkWait:
      return "DEPBAR.LE.ALL";
    default:
      return "NOP";
  }
}

std::string barrier_opcode(const Instruction& in) {
  if (in.mod.mode == 2) return in.mod.bar_arrive != 0 ? "UCGABAR_ARV" : "UCGABAR_WAIT";
  if (in.op == Opcode::kBarRed) return "BAR.RED.POPC.DEFER_BLOCKING";
  return in.mod.bar_arrive != 0 ? "BAR.ARV" : "BAR.SYNC.DEFER_BLOCKING";
}

std::string arithmetic_opcode(const Instruction& in) {
  const Type type = in.mod.type;
  switch (in.op) {
    case Opcode::kMin:
    case Opcode::kMax:
      return of_type(type, "IMNMX", "FMNMX", "DMNMX", "HMNMX2");
    case Opcode::kMul:
    case Opcode::kMul24:
      return of_type(type, "IMUL", "FMUL", "DMUL", "HMUL2");
    case Opcode::kMad:
    case Opcode::kMadc:
    case Opcode::kMad24:
    case Opcode::kSad:
    case Opcode::kDp4a:
    case Opcode::kDp2a:
    case Opcode::kFma:
    case Opcode::kVideo:
      return of_type(type, "IMAD", "FFMA", "DFMA", "HFMA2");
    case Opcode::kSetp:
      return of_type(type, "ISETP.GE.AND", "FSETP.GE.AND", "DSETP.GE.AND", "HSETP2.GE.AND");
    case Opcode::kSelp:
    case Opcode::kSlct:
      return "SEL";
    case Opcode::kCvt:
      if (in.mod.src_type == Type::kF64 || type == Type::kF64) return "F2F.F64.F32";
      if (!ptx::is_float(type) && !ptx::is_float(in.mod.src_type)) return "IMAD.MOV.U32";
      return !ptx::is_float(type) ? "F2I" : ptx::is_float(in.mod.src_type) ? "F2F" : "I2F";
    case Opcode::kShl:
      return "SHF.L.U32";
    case Opcode::kShr:
      return "SHF.R.U32.HI";
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
      return "LOP3.LUT";
    default:
      return of_type(type, "IADD3", "FADD", "DADD", "HADD2");
  }
}

/// The first vector register, predicate or uniform one that stands for it; empty if there is none.
std::string register_name(const compiler::Kernel& kernel, compiler::RegId id) {
  if (id == compiler::kNone) return "";
  const compiler::Register& r = kernel.registers[id];
  if (r.physical == compiler::kNone) return "";
  if (r.type != Type::kPred) return r.physical < 255 ? fmt::format("R{}", r.physical) : "";
  constexpr uint32_t kOfEach = 7;  // the eighth is always true
  if (r.physical >= 2 * kOfEach) return "";
  return fmt::format("{}P{}", r.physical < kOfEach ? "" : "U", r.physical % kOfEach);
}

LineOperands joined(const std::vector<std::string>& names) {
  LineOperands all;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    all.text += ' ' + name;
    all.count += 1;
  }
  all.text = fmt::format("{}{}", all.count, all.text);
  return all;
}

bool is_product_of_group(const Instruction& in) {
  return in.op == Opcode::kWarpMma && ptx::WarpMatrixDetail::unpack(in.mod.detail).of_group();
}

}  // namespace

std::string machine_opcode(const Instruction& in) {
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kTex:
    case Opcode::kSuld:
    case Opcode::kSust:
      return memory_opcode(in);
    case Opcode::kPhaseWait:
      return "SYNCS.PHASECHK.TRANS64.TRYWAIT";
    case Opcode::kTensorLoad:
      return "UTMALDG.2D";
    case Opcode::kTensorStore:
      return "UTMASTG.2D";
    case Opcode::kTensorReduce:
      return "UTMAREDG.2D.ADD";
    case Opcode::kWarpMma:
      return product_opcode(in);
    case Opcode::kMma:
      return of_type(in.mod.type, "IMMA.16816", "HMMA.16816.F32", "DMMA.884", "HMMA.16816.F16");
    case Opcode::kWgmmaWait:
      return "WARPGROUP.DEPBAR.LE";
    case Opcode::kNop:
      return group_opcode(in);
    case Opcode::kBar:
    case Opcode::kBarRed:
      return barrier_opcode(in);
    case Opcode::kMembar:
      return "MEMBAR.SC.GPU";
    case Opcode::kBra:
      return "BRA";
    case Opcode::kBrx:
      return "BRX";
    case Opcode::kCall:
      return "CALL.REL.NOINC";
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
      return "EXIT";
    case Opcode::kBarWarp:
      return "WARPSYNC";
    case Opcode::kNanosleep:
      return "NANOSLEEP";
    case Opcode::kSystem:
      return "NOP";
    case Opcode::kShfl:
      return "SHFL.IDX";
    case Opcode::kVote:
      return "VOTE.ANY";
    case Opcode::kMatch:
      return "MATCH.ANY";
    case Opcode::kRedux:
      return "REDUX.SUM";
    case Opcode::kDiv:
    case Opcode::kRem:
      return division_opcode(in);
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
      return "MUFU.RCP";
    default:
      return arithmetic_opcode(in);
  }
}

bool has_no_machine_instruction(const Instruction& in) {
  return in.implied || in.op == Opcode::kMov || in.op == Opcode::kCvta;
}

LineOperands machine_destinations(const compiler::Kernel& kernel, const Instruction& in) {
  std::vector<std::string> names;
  if (in.op != Opcode::kWarpMma || !is_product_of_group(in)) {
    for (const compiler::RegId id : in.dsts) names.push_back(register_name(kernel, id));
  } else if (!in.dsts.empty()) {
    names.push_back(register_name(kernel, in.dsts[0]));
  }
  return joined(names);
}

LineOperands machine_sources(const compiler::Kernel& kernel, const Instruction& in) {
  std::vector<std::string> names;
  if (is_product_of_group(in)) {
    // A factor in registers, and the sums.
    if (!ptx::WarpMatrixDetail::unpack(in.mod.detail).a_in_memory) names.push_back("R255");
    names.push_back(in.dsts.empty() ? "R255" : register_name(kernel, in.dsts[0]));
    return joined(names);
  }
  names.push_back(register_name(kernel, in.address.base));
  for (const compiler::Operand& o : in.srcs)
    if (o.kind == compiler::Operand::Kind::kRegister) names.push_back(register_name(kernel, o.reg));
  names.push_back(register_name(kernel, in.guard));
  // The register of the values that an arrival or a wait is told comes last.
  const bool values = in.op == Opcode::kPhaseWait || (in.op == Opcode::kSt && in.mod.mode == 1) ||
                      (in.op == Opcode::kAtom && in.mod.atomic == ptx::AtomicOp::kArrive);
  if (values) names.push_back("R255");
  std::erase(names, "");
  if (names.size() > 16) names.resize(16);
  return joined(names);
}

}  // namespace nearwarp::sass
