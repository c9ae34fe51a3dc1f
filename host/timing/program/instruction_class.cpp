// Which port an instruction uses, for how long, and when its result is ready.
//
// The classes and the port of each (divisions and transcendental functions on the SFU, everything
// else on the SPs) follow GPGPU-Sim 4.2; operations that it does not name count as additions.
#include "host/timing/program/instruction_class.h"

#include <algorithm>

#include "device/sm/sm_state.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::sim {

namespace {

using compiler::Instruction;
using config::ClassTiming;
using config::MachineConfig;
using ptx::Opcode;
using ptx::Space;
using sm::Action;
using sm::ImageInstr;
using sm::Unit;

enum class Kind { kAdd, kMax, kMul, kMad, kDiv };

const ClassTiming& timing(const MachineConfig::Classes& c, Kind kind, ptx::Type type) {
  if (type == ptx::Type::kF64) {
    switch (kind) {
      case Kind::kAdd:
        return c.fp64_add;
      case Kind::kMax:
        return c.fp64_max;
      case Kind::kMul:
        return c.fp64_mul;
      case Kind::kMad:
        return c.fp64_mad;
      case Kind::kDiv:
        return c.fp64_div;
    }
  }
  if (ptx::is_float(type)) {
    switch (kind) {
      case Kind::kAdd:
        return c.fp32_add;
      case Kind::kMax:
        return c.fp32_max;
      case Kind::kMul:
        return c.fp32_mul;
      case Kind::kMad:
        return c.fp32_mad;
      case Kind::kDiv:
        return c.fp32_div;
    }
  }
  switch (kind) {
    case Kind::kAdd:
      return c.int_add;
    case Kind::kMax:
      return c.int_max;
    case Kind::kMul:
      return c.int_mul;
    case Kind::kMad:
      return c.int_mad;
    case Kind::kDiv:
      break;
  }
  return c.int_div;
}

void set_timing(ImageInstr& out, const ClassTiming& t) {
  out.latency = static_cast<uint16_t>(t.latency_cycles);
  out.interval = static_cast<uint8_t>(std::min<uint32_t>(t.interval_cycles, 255));
}

uint8_t lane_bytes(const Instruction& in) {
  const unsigned bytes = ptx::size_of(in.mod.type) * std::max<unsigned>(in.mod.vector, 1);
  return static_cast<uint8_t>(std::max(bytes, 1u));
}

void classify_memory(ImageInstr& out, const Instruction& in, const MachineConfig& m) {
  const bool shared = in.mod.space == Space::kShared;
  if (in.mod.space == Space::kConst || in.mod.space == Space::kParam) {
    set_timing(out, m.classes.constant_load);
    return;
  }
  out.unit = Unit::kLsu;
  out.flags |= sm::kHasRecord;
  if (in.guard != compiler::kNone) out.flags |= sm::kGuarded;
  out.lane_bytes = lane_bytes(in);
  switch (in.op) {
    case Opcode::kSt:
    case Opcode::kSust:
      out.action = shared ? Action::kSharedStore : Action::kStore;
      break;
    case Opcode::kAtom:
      out.action = shared ? Action::kSharedAtomic : Action::kAtomic;
      break;
    case Opcode::kRed:
      out.action = shared ? Action::kSharedAtomic : Action::kReduce;
      break;
    default:
      out.action = shared ? Action::kSharedLoad : Action::kLoad;
      break;
  }
}

void classify_barrier(ImageInstr& out, const Instruction& in) {
  out.unit = Unit::kControl;
  if (in.op == Opcode::kBar && in.mod.mode == 2) {
    // Estimated: a barrier of a cluster costs what one of the block does. Warps wait for those of
    // their own block, in a barrier apart from its others.
    if (in.mod.bar_arrive != 0) return;
    out.action = Action::kBarrier;
    out.lane_bytes = sm::kMaxBarriers - 1;
    return;
  }
  out.action = in.mod.bar_arrive != 0 ? Action::kBarrierArrive : Action::kBarrier;
  const auto immediate = [&](size_t i) -> uint64_t {
    return i < in.srcs.size() && in.srcs[i].kind == compiler::Operand::Kind::kImmediate
               ? in.srcs[i].bits
               : 0;
  };
  out.lane_bytes = static_cast<uint8_t>(immediate(0) % 16);
  if (in.op == Opcode::kBar)
    out.barrier_warps = static_cast<uint8_t>(std::min<uint64_t>((immediate(1) + 31) / 32, 255));
}

}  // namespace

sm::EnergyClass energy_class(const Instruction& in) {
  using E = sm::EnergyClass;
  const bool f64 = in.mod.type == ptx::Type::kF64 || in.mod.src_type == ptx::Type::kF64;
  const bool real = ptx::is_float(in.mod.type);
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kTex:
    case Opcode::kSuld:
    case Opcode::kSust:
      return in.mod.space == Space::kConst || in.mod.space == Space::kParam ? E::kConstant
                                                                            : E::kMemory;
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kCall:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
    case Opcode::kBar:
    case Opcode::kBarRed:
    case Opcode::kBarWarp:
    case Opcode::kMembar:
    case Opcode::kNanosleep:
    case Opcode::kSystem:
    case Opcode::kNop:
      return E::kControl;
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
      return E::kShuffle;
    case Opcode::kMul:
    case Opcode::kMul24:
    case Opcode::kMad:
    case Opcode::kMadc:
    case Opcode::kMad24:
    case Opcode::kSad:
    case Opcode::kDp4a:
    case Opcode::kDp2a:
    case Opcode::kMma:
      if (!real) return E::kIntegerMultiply;
      break;
    case Opcode::kDiv:
    case Opcode::kRem:
      if (!real) return E::kIntegerDivide;
      return f64 ? E::kFp64Divide : E::kFp32Divide;
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
      return f64 ? E::kFp64Divide : E::kSpecial;
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kSelp:
    case Opcode::kSlct:
      return E::kInteger;  // whatever the type, bits are moved
    case Opcode::kCvt:
      if (ptx::is_float(in.mod.src_type)) return f64 ? E::kFp64 : E::kFp32;
      break;
    default:
      break;
  }
  if (f64) return E::kFp64;
  return real ? E::kFp32 : E::kInteger;
}

bool is_move(const Instruction& instruction) {
  return instruction.op == Opcode::kMov || instruction.op == Opcode::kCvta;
}

ImageInstr classify(const Instruction& in, const MachineConfig& m) {
  ImageInstr out;
  const ptx::Type type = in.mod.type;
  set_timing(out, timing(m.classes, Kind::kAdd, type));
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kTex:
    case Opcode::kSuld:
    case Opcode::kSust:
      classify_memory(out, in, m);
      return out;
    case Opcode::kMin:
    case Opcode::kMax:
      set_timing(out, timing(m.classes, Kind::kMax, type));
      break;
    case Opcode::kMul:
    case Opcode::kMul24:
      set_timing(out, timing(m.classes, Kind::kMul, type));
      break;
    case Opcode::kMad:
    case Opcode::kMadc:
    case Opcode::kMad24:
    case Opcode::kSad:
    case Opcode::kDp4a:
    case Opcode::kDp2a:
    case Opcode::kFma:
    case Opcode::kVideo:
      set_timing(out, timing(m.classes, Kind::kMad, type));
      break;
    case Opcode::kMma: {
      // Estimated: no matrix units are modelled; one multiply-add per element of k and 32 results.
      const ptx::MatrixDetail d = ptx::MatrixDetail::unpack(in.mod.detail);
      ClassTiming t = timing(m.classes, Kind::kMad, type);
      const uint32_t steps = std::max(1u, uint32_t{d.m} * d.n * d.k / 1024);
      t.interval_cycles *= steps;
      t.latency_cycles += t.interval_cycles;
      set_timing(out, t);
      break;
    }
    case Opcode::kDiv:
    case Opcode::kRem:
      set_timing(out, timing(m.classes, Kind::kDiv, type));
      out.unit = Unit::kSfu;
      break;
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kTanh:
      set_timing(out, type == ptx::Type::kF64 ? m.classes.fp64_div : m.classes.sfu);
      out.unit = Unit::kSfu;
      break;
    case Opcode::kCvt:
      if (in.mod.src_type == ptx::Type::kF64) set_timing(out, m.classes.fp64_add);
      break;
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
      set_timing(out, m.classes.shuffle);
      break;
    case Opcode::kBar:
    case Opcode::kBarRed:
      classify_barrier(out, in);
      return out;
    case Opcode::kMembar:
      out.unit = Unit::kControl;
      out.action = Action::kFence;
      return out;
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kCall:
      out.flags |= sm::kBranch;
      return out;
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
      out.unit = Unit::kControl;
      out.action = Action::kExit;
      return out;
    case Opcode::kBarWarp:
    case Opcode::kNanosleep:
    case Opcode::kSystem:  // what the runtime does for a kernel costs one issue slot
    case Opcode::kNop:
      out.unit = Unit::kControl;
      return out;
    default:
      break;
  }
  // Double precision has ports of its own only where the machine says so.
  if (out.unit == Unit::kSp && m.sm.dp_units != 0 &&
      (type == ptx::Type::kF64 || in.mod.src_type == ptx::Type::kF64))
    out.unit = Unit::kDp;
  return out;
}

}  // namespace nearwarp::sim
