// Hopper's asynchronous instructions as the timing model knows them.
//
// Source: forms of SYNCS, UBLKCP and UTMA* as ptxas makes them of PTX for sm_90a.
#include "host/recording/accel_sim/async_opcodes.h"

#include <bit>

#include "host/functional/ptx/details.h"

namespace nearwarp::sass {
namespace {

using compiler::Instruction;
using ptx::CopyGroup;
using ptx::Factor;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

Instruction group_of_copies(CopyGroup group) {
  Instruction in;
  in.op = Opcode::kNop;
  in.mod.detail = static_cast<uint32_t>(group);
  return in;
}

void on_mbarrier(MachineInstruction& m, Opcode op, AsyncKind kind) {
  m.async = kind;
  m.instruction.op = op;
  m.instruction.mod.type = Type::kB64;
  m.instruction.mod.space = Space::kShared;
  if (op == Opcode::kAtom) m.instruction.mod.atomic = ptx::AtomicOp::kArrive;
  m.ends_run = true;
}

bool translate_syncs(MachineInstruction& m, const Modifiers& mods) {
  const bool has_addresses = m.line.memory_bytes != 0;
  if (mods.has("EXCH") && has_addresses) {
    on_mbarrier(m, Opcode::kSt, AsyncKind::kInit);
    m.instruction.dsts.clear();
    m.has_record = true;
    m.lane_bytes = 8;
  } else if (mods.has("ARRIVE") && has_addresses) {
    on_mbarrier(m, Opcode::kAtom, AsyncKind::kArrive);
  } else if (mods.has("PHASECHK") && has_addresses) {
    on_mbarrier(m, Opcode::kPhaseWait, AsyncKind::kWait);
  } else {
    m.instruction.op = Opcode::kNop;
    m.async = AsyncKind::kFiller;
  }
  return true;
}

void translate_bulk(MachineInstruction& m, const Modifiers& mods) {
  const std::string_view name = mods.name();
  Instruction& in = m.instruction;
  const bool row = name == "UBLKCP" || name == "UBLKRED";
  // "S.G" is from global memory to shared memory, "G.S" the way back.
  const bool stores = row ? !mods.words().empty() && mods.words().front() == "G"
                          : name == "UTMASTG" || name == "UTMAREDG";
  m.ends_run = true;
  if (name == "UTMAPF" || name == "UBLKPF") {
    m.async = AsyncKind::kPrefetch;
    in.op = Opcode::kNop;
    return;
  }
  if (row && !mods.has("G")) {
    // A bulk copy between blocks of a cluster.
    on_mbarrier(m, Opcode::kAtom, AsyncKind::kRemoteBulk);
    return;
  }
  const bool reduces = name == "UTMAREDG" || name == "UBLKRED";
  m.async = stores ? AsyncKind::kBulkStore : AsyncKind::kBulkLoad;
  in.op = reduces ? Opcode::kTensorReduce : stores ? Opcode::kTensorStore : Opcode::kTensorLoad;
  in.mod.type = Type::kB32;
  in.mod.vector = 4;  // pieces of 16 bytes
  in.mod.space = Space::kGlobal;
  in.mod.async_copy = !stores;
}

void translate_products(MachineInstruction& m, const Modifiers& mods) {
  const MatrixShape shape = matrix_shape(mods);
  ptx::WarpMatrixDetail d;
  d.m = 64;
  d.n = static_cast<uint16_t>(std::clamp(shape.n / 8 * 8, 8u, 256u));
  d.k = static_cast<uint16_t>(std::bit_ceil(std::clamp(shape.k, 4u, 512u)));
  const std::string_view name = mods.name();
  d.a = name == "BGMMA"    ? Factor::kB1
        : name == "IGMMA"  ? Factor::kU8
        : name == "QGMMA"  ? Factor::kE4M3
        : mods.has("TF32") ? Factor::kTF32
        : mods.has("BF16") ? Factor::kBF16
                           : Factor::kF16;
  d.b = d.a;
  d.sparse = mods.has("SP");
  // Sources in registers: a, if it is there, and the sums.
  d.a_in_memory = m.line.vector_srcs < 2;
  if (mods.has("F16") && !mods.has("F32")) d.result = ptx::WarpMatrixDetail::Result::kF16;
  // The line names the first register of the sums, and of a.
  Instruction& in = m.instruction;
  in.dsts.clear();
  in.srcs.clear();
  const auto add = [&](uint8_t first, uint32_t count, bool result) {
    for (uint32_t r = first; r < std::min(first + count, 255u); ++r) {
      if (result)
        in.dsts.push_back(r);
      else
        in.srcs.push_back(compiler::of_register(r));
    }
  };
  for (const uint8_t r : m.line.dsts) add(r, d.result_registers(), true);
  for (size_t i = 0; i < m.line.srcs.size(); ++i)
    add(m.line.srcs[i], i + 1 == m.line.srcs.size() ? d.result_registers() : 4, false);
  m.async = AsyncKind::kProducts;
  m.ends_run = m.line.commits;
  m.instruction.op = Opcode::kWarpMma;
  m.instruction.mod.type = name == "IGMMA" || name == "BGMMA" ? Type::kS32 : Type::kF32;
  m.instruction.mod.detail = d.pack();
}

}  // namespace

ArrivalForm arrival_form(std::string_view opcode) {
  ArrivalForm form;
  const Modifiers mods(opcode);
  form.drops = mods.has("OPTOUT");
  for (const std::string_view word : mods.words())
    if (word.size() == 4 && word[0] == 'A' && word[2] == 'T') {
      form.arrivals = word[1];
      form.bytes = word[3];
    }
  return form;
}

bool translate_async(MachineInstruction& m, const Modifiers& mods) {
  const std::string_view name = mods.name();
  Instruction& in = m.instruction;
  if (m.opcode_class == OpcodeClass::kBulkCopy) {
    if (name == "UTMACMDFLUSH") {
      m.async = AsyncKind::kBulkCommit;
      in = group_of_copies(CopyGroup::kBulkCommit);
    } else if (name.starts_with("UTMACC")) {
      m.async = AsyncKind::kFiller;
      in.op = Opcode::kNop;
    } else {
      translate_bulk(m, mods);
    }
    return true;
  }
  if (name == "SYNCS") return translate_syncs(m, mods);
  if (name == "ARRIVES" && m.line.memory_bytes != 0) {
    on_mbarrier(m, Opcode::kAtom, AsyncKind::kCopiesArrive);
    in.mod.mode = 2;
    return true;
  }
  if (m.opcode_class == OpcodeClass::kTensor && name.ends_with("GMMA")) {
    translate_products(m, mods);
    return true;
  }
  if (name == "WARPGROUP" && mods.has("DEPBAR")) {
    m.async = AsyncKind::kProductWait;
    in.op = Opcode::kWgmmaWait;
    m.ends_run = true;
    return true;
  }
  if (name == "LDGDEPBAR") {
    m.async = AsyncKind::kLoadCommit;
    in = group_of_copies(CopyGroup::kCommit);
    return true;
  }
  if (name == "DEPBAR") {
    m.async = AsyncKind::kGroupWait;
    return true;  // without groups of copies a fence, as in the table
  }
  if (name == "LDGSTS" && m.line.memory_bytes != 0) {
    in.dsts.clear();
    in.mod.async_copy = true;
    in.mod.detail =
        static_cast<uint32_t>(mods.has("BYPASS") ? ptx::CopyCache::kPastL1 : ptx::CopyCache::kAll);
    return false;  // and otherwise a load
  }
  if (name == "BAR") {
    m.async = AsyncKind::kBarrier;
    if (!mods.has("RED") && mods.has("ARV")) {
      in.op = Opcode::kBar;
      in.mod.bar_arrive = 1;
    }
    m.ends_run = in.op != Opcode::kNop;
    return true;
  }
  if (name == "UCGABAR_ARV" || name == "UCGABAR_WAIT") {
    m.async = AsyncKind::kClusterBarrier;
    in.op = Opcode::kBar;
    in.mod.mode = 2;
    in.mod.bar_arrive = name == "UCGABAR_ARV";
    m.ends_run = true;
    return true;
  }
  return false;
}

Instruction with_immediates(const MachineInstruction& m, uint32_t first, uint32_t second,
                            CopyGroups groups) {
  Instruction in = m.instruction;
  switch (m.async) {
    case AsyncKind::kProductWait:
      in.srcs = {compiler::constant(first)};
      break;
    case AsyncKind::kGroupWait: {
      if (groups == CopyGroups::kNone) break;
      const bool all = Modifiers(m.line.opcode).has("ALL");
      in = group_of_copies(groups == CopyGroups::kBulk
                               ? (all ? CopyGroup::kBulkWait : CopyGroup::kBulkWaitRead)
                           : all ? CopyGroup::kWaitAll
                                 : CopyGroup::kWaitGroup);
      in.srcs = {compiler::constant(first)};
      break;
    }
    case AsyncKind::kBarrier:
      in.srcs = {compiler::constant(first % 16), compiler::constant(second)};
      break;
    default:
      break;
  }
  return in;
}

Instruction end_of_bulk(const MachineInstruction& m) {
  if (m.async == AsyncKind::kBulkStore) return group_of_copies(CopyGroup::kBulkEnd);
  Instruction in;
  in.op = Opcode::kAtom;
  in.mod.type = Type::kB64;
  in.mod.space = Space::kShared;
  in.mod.atomic = ptx::AtomicOp::kArrive;
  in.mod.async_copy = true;
  in.mod.mode = 1;
  return in;
}

Instruction commit_of_products() {
  Instruction in;
  in.op = Opcode::kWgmmaCommit;
  return in;
}

}  // namespace nearwarp::sass
