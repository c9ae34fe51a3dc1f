// From a SASS instruction to what it counts as in the timing model.
#include <algorithm>

#include "host/functional/ptx/details.h"
#include "host/recording/accel_sim/async_opcodes.h"
#include "host/recording/accel_sim/machine_kernel.h"
#include "host/recording/accel_sim/modifiers.h"

namespace nearwarp::sass {
namespace {

using compiler::Instruction;
using compiler::Operand;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

/// Sets the product that a warp's matrix instruction forms, as the modifiers say it. 4-bit and
/// 1-bit factors count as so many fewer bytes, and sparse ones as those that are there.
void set_matrix(Instruction& in, const Modifiers& mods) {
  auto [m, n, k] = matrix_shape(mods);
  const std::string_view name = mods.name();
  if (name.size() > 2 && name.substr(1) == "GMMA") m /= 4;
  in.mod.src_type = name == "DMMA"                      ? Type::kF64
                    : name == "HMMA" || name == "HGMMA" ? Type::kF16
                                                        : Type::kU8;
  if (mods.has("TF32")) in.mod.src_type = Type::kB32;
  if (mods.has("S4") || mods.has("U4") || name == "OMMA") k /= 2;
  if (name == "BMMA" || name == "BGMMA") k /= 8;
  if (mods.has("SP")) k /= 2;
  // Volta's, a step of four, or of two where the sums are f16: a quarter, or half, of m8n8k4 by
  // four parts of the warp.
  const bool step =
      mods.has("STEP0") || mods.has("STEP1") || mods.has("STEP2") || mods.has("STEP3");
  if (step && !mods.has("F32")) k *= 2;
  ptx::MatrixDetail detail;
  detail.m = static_cast<uint8_t>(std::clamp(m, 1u, 63u));
  detail.n = static_cast<uint16_t>(std::clamp(n, 1u, 511u));
  detail.k = static_cast<uint8_t>(std::clamp(k, 1u, 127u));
  in.mod.detail = detail.pack();
}

Space space_of(OpcodeClass c) {
  switch (c) {
    case OpcodeClass::kShared:
      return Space::kShared;
    case OpcodeClass::kConstant:
      return Space::kConst;
    case OpcodeClass::kGeneric:
      return Space::kGeneric;
    default:
      return Space::kGlobal;  // local memory lies in device memory
  }
}

void set_width(Instruction& in, uint32_t bytes) {
  in.mod.type = bytes == 1   ? Type::kB8
                : bytes == 2 ? Type::kB16
                : bytes == 8 ? Type::kB64
                             : Type::kB32;
  in.mod.vector = bytes == 16 ? 4 : 1;
}

/// Registers of each operand: wide values take neighbours, of which the trace names the first.
struct Widths {
  uint32_t dst = 1, first = 1, second = 1, third = 1;
};

Widths widths_of(const MachineInstruction& m, const Modifiers& mods) {
  Widths w;
  const uint32_t data = std::max(1u, mods.lane_bytes() / 4);
  const uint32_t address = mods.has("E") || mods.has("64") ? 2 : 1;
  switch (m.opcode_class) {
    case OpcodeClass::kFp64:
      return {2, 2, 2, 2};
    case OpcodeClass::kTensor:
      return mods.has("16816") ? Widths{4, 4, 2, 4} : Widths{4, 2, 1, 4};
    case OpcodeClass::kGlobal:
    case OpcodeClass::kGeneric:
      return {data, mods.has("E") ? 2u : 1u, data, data};
    case OpcodeClass::kShared:
    case OpcodeClass::kLocal:
      return {mods.has("M88") || mods.has("MT88") ? mods.matrices() : data, 1, data, data};
    case OpcodeClass::kConstant:
      return {data, 1, 1, 1};
    case OpcodeClass::kConvert:
      return mods.has("F64") ? Widths{2, 2, 1, 1} : w;
    default:
      break;
  }
  if (mods.name() == "IMAD" && mods.has("WIDE")) return {2, 1, 1, 2};
  if (mods.name() == "CS2R" && !mods.has("32")) return {2, 1, 1, 1};
  if (m.opcode_class == OpcodeClass::kUnknown) w.first = address;
  return w;
}

void add_registers(uint8_t first, uint32_t count, std::vector<compiler::RegId>* to) {
  for (uint32_t r = first; r < std::min(first + count, 255u); ++r) to->push_back(r);
}

void set_operands(MachineInstruction& m, const Modifiers& mods) {
  const Widths w = widths_of(m, mods);
  // Lines that name several results, or data of a store, name them all.
  const uint32_t each = m.line.dsts.size() > 1 ? 1 : w.dst;
  const bool names_data = m.instruction.op == Opcode::kSt && m.line.srcs.size() > 2;
  for (const uint8_t r : m.line.dsts) add_registers(r, each, &m.instruction.dsts);
  for (const uint32_t r : m.line.other_dsts) m.instruction.dsts.push_back(kOtherRegisters + r);
  for (size_t i = 0; i < m.line.srcs.size(); ++i) {
    std::vector<compiler::RegId> registers;
    const uint32_t data = i == 1 ? w.second : w.third;
    add_registers(m.line.srcs[i], i == 0 ? w.first : names_data ? 1 : data, &registers);
    for (const compiler::RegId r : registers) {
      Operand& o = m.instruction.srcs.emplace_back();
      o.kind = Operand::Kind::kRegister;
      o.reg = r;
    }
  }
  for (const uint32_t r : m.line.other_srcs)
    m.instruction.srcs.push_back(compiler::of_register(kOtherRegisters + r));
}

void set_memory(MachineInstruction& m, const Modifiers& mods) {
  Instruction& in = m.instruction;
  in.mod.space = space_of(m.opcode_class);
  m.has_record = true;
  m.lane_bytes = static_cast<uint8_t>(mods.lane_bytes());
  if (mods.has("M88") || mods.has("MT88")) {
    // Lane i names a row of 16 bytes of matrix i / 8; the other lanes' addresses mean nothing.
    m.lane_bytes = 16;
    m.lanes = static_cast<uint32_t>((uint64_t{1} << 8 * mods.matrices()) - 1);
    in.guard = 0;  // so that the trace has a mask of its own for it
  }
  set_width(in, m.lane_bytes);
}

}  // namespace

MachineInstruction translate(StaticPart line, bool async) {
  MachineInstruction m;
  m.line = std::move(line);
  const Modifiers mods(m.line.opcode);
  const bool has_addresses = m.line.memory_bytes != 0;
  m.row = find_opcode(mods.name());
  Instruction& in = m.instruction;
  if (m.row != nullptr) {
    m.opcode_class = m.row->opcode_class;
    in.op = m.row->op;
    in.mod.type = m.row->type;
  } else {
    // Something that accesses memory is taken for a load, anything else for an addition.
    in.op = has_addresses ? Opcode::kLd : Opcode::kAdd;
    in.mod.type = Type::kB32;
  }
  if (mods.name() == "IMAD" && mods.has("MOV")) {
    in.op = Opcode::kSelp;
    m.opcode_class = OpcodeClass::kMove;
  }
  const OpcodeClass c = m.opcode_class;
  if (c == OpcodeClass::kSpecial && mods.has("DIV")) {  // of a trace of our own
    in.op = Opcode::kDiv;
    in.mod.type = mods.has("U32") ? Type::kU32 : mods.has("RCP64H") ? Type::kF64 : Type::kF32;
  }
  if (c == OpcodeClass::kConvert && mods.has("F64")) in.mod.src_type = Type::kF64;
  if (c == OpcodeClass::kTensor) set_matrix(in, mods);
  if (c == OpcodeClass::kBarrier) {
    // Numbers and counts of barriers are not in the trace: all are barrier 0, and only what waits
    // for the whole block counts.
    if (mods.has("RED"))
      in.op = Opcode::kBarRed;
    else if (!mods.has("SYNC") && !mods.has("SYNCALL"))
      in.op = Opcode::kNop;
  }
  set_operands(m, mods);
  if (async && translate_async(m, mods)) {
    m.predicated_off.op = Opcode::kNop;
    m.predicated_off.srcs = in.srcs;
    return m;
  }
  const bool may_access = is_memory(c) || c == OpcodeClass::kTexture || c == OpcodeClass::kUnknown;
  if (has_addresses && may_access) {
    set_memory(m, mods);
  } else if (in.op == Opcode::kLd || is_memory(c)) {
    // Addresses are not in the trace: the latency of a constant is all that is left of it. It
    // counts as a parameter at an unknown place.
    in.op = Opcode::kLd;
    in.mod.space = Space::kParam;
  }
  m.ends_run = in.op == Opcode::kBra || in.op == Opcode::kBar || in.op == Opcode::kBarRed ||
               in.op == Opcode::kExit;
  m.predicated_off.op = Opcode::kNop;
  m.predicated_off.srcs = in.srcs;
  return m;
}

}  // namespace nearwarp::sass
