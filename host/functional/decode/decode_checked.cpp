// Decoder: operations that tell the race detector what the kernel does (host/functional/racecheck).
#include "host/functional/decode/decoder.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::runtime {

using exec::AtomOp;
using exec::CheckedSync;
using exec::MemDesc;
using exec::MemSpace;
using ptx::Opcode;

/// `full` and `partial` are the two forms of the access that `desc` was just kept for.
void Decoder::check_access(const Instr& in, const MemDesc& desc, exec::Op* full,
                           exec::Op* partial) {
  racecheck::AccessRules rules;
  const bool arrives = desc.atomic == AtomOp::kArrive;  // at an mbarrier: releases, by default
  rules.strong = desc.polls != 0;
  rules.acquire = in.mod.acquire || arrives;
  rules.release = in.mod.release || arrives;
  rules.block_scope = in.mod.block_scope;
  rules.cluster_scope = in.mod.cluster_scope;
  rules.async_copy = in.mod.async_copy;
  out_.rules.push_back(rules);
  // Only the host writes constants and parameters, and nobody else sees local memory.
  if (in.mod.space == ptx::Space::kConst || in.mod.space == ptx::Space::kParam) return;
  if (desc.space == MemSpace::kLocal) return;
  full->code = partial->code = exec::kCheckedAccess;
}

/// Fences, lanes that wait for one another, groups of asynchronous copies.
void Decoder::check_sync(const Instr& in) {
  const auto members = [&](size_t index) {
    return in.srcs.size() > index ? source(in.srcs[index], false)
                                  : constant(exec::kFullMask, false);
  };
  switch (in.op) {
    case Opcode::kMembar:
      return emit_sync(in.mod.block_scope     ? CheckedSync::kBlockFence
                       : in.mod.cluster_scope ? CheckedSync::kClusterFence
                                              : CheckedSync::kFence,
                       0);
    case Opcode::kBarWarp:
    case Opcode::kElect:
      return emit_sync(CheckedSync::kWarp, members(0));
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
      return emit_sync(CheckedSync::kWarp, members(1));
    case Opcode::kShfl:
      return emit_sync(CheckedSync::kWarp, members(3));
    case Opcode::kNop:
      break;
    default:
      return;
  }
  switch (static_cast<ptx::CopyGroup>(in.mod.detail)) {
    case ptx::CopyGroup::kCommit:
      return emit_sync(CheckedSync::kCommit, 0);
    case ptx::CopyGroup::kWaitAll:
      return emit_sync(CheckedSync::kWaitAll, 0);
    case ptx::CopyGroup::kWaitGroup:
      return emit_sync(CheckedSync::kWaitGroup, source(in.srcs.at(0), false));
    case ptx::CopyGroup::kNone:
      break;
  }
}

void Decoder::emit_sync(CheckedSync what, uint16_t operand) {
  exec::Op op;
  op.code = exec::kCheckedSync;
  op.a = operand;
  op.x = guard();
  op.imm = static_cast<int32_t>(what);
  emit(op);
}

}  // namespace nearwarp::runtime
