// Decoder: what ends a basic block: branches, barriers, waits, calls of the runtime.
#include "host/functional/decode/decoder.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using exec::Op;
using ptx::Opcode;

/// Describes a barrier that is waited at: of a block, a cluster, or groups of products (wgmma).
BarrierDesc Decoder::barrier(const Instr& in) {
  using Kind = BarrierDesc::Kind;
  BarrierDesc desc;
  desc.instruction = instr_id_;
  if (in.op == Opcode::kWgmmaWait) {
    desc.kind = Kind::kGroup;
    desc.count_row = source(in.srcs.at(0), false);
    return desc;
  }
  size_t n = in.srcs.size();
  if (in.op == Opcode::kBar && in.mod.mode == 2) {
    desc.kind = in.mod.bar_arrive ? Kind::kClusterArrive : Kind::kClusterWait;
    desc.orders = in.mod.release;
    out_.meets_cluster = true;
  } else if (in.op == Opcode::kBarRed) {
    desc.kind = in.mod.bool_op == ptx::BoolOp::kAnd  ? Kind::kAnd
                : in.mod.bool_op == ptx::BoolOp::kOr ? Kind::kOr
                                                     : Kind::kPopc;
    desc.predicate = predicate_operand(in.srcs.at(--n));
    if (desc.kind == Kind::kPopc)
      desc.destination = destination(in.dsts.at(0)).row;
    else
      desc.destination = in.dsts.at(0) == kNone ? discard_predicate_ : predicate(in.dsts.at(0));
  } else if (in.mod.bar_arrive) {
    desc.kind = Kind::kArrive;
  }
  desc.id_row = n > 0 ? source(in.srcs.at(0), false) : constant(0, false);
  desc.has_count = n > 1;
  desc.aligned = in.mod.detail == static_cast<uint32_t>(ptx::BarrierForm::kAligned);
  if (desc.has_count) desc.count_row = source(in.srcs.at(1), false);
  return desc;
}

/// A wait for a phase of an mbarrier.
void Decoder::phase_wait(const Instr& in, Op* op) {
  exec::MemDesc desc = describe(in);
  desc.traced = 0;
  address(in, &desc, &op->a, &op->imm);
  if (out_.memory.size() >= 0xffff) unsupported("a kernel with this many memory instructions");
  op->code = exec::kPhaseWait;
  op->b = predicate(in.dsts.at(0));
  op->c = static_cast<uint16_t>(out_.memory.size());
  out_.memory.push_back(desc);
  if (checked_) out_.rules.emplace_back();
  out_.has_mbarriers = true;
}

void Decoder::control(const Instr& in, const compiler::Block& block, bool* ended) {
  Op op;
  op.x = guard();
  switch (in.op) {
    case Opcode::kBra:
      op.code = guarded() ? exec::kBranch : exec::kJump;
      op.imm = static_cast<int32_t>(in.targets.at(0));
      *ended = true;
      break;
    case Opcode::kBrx:
      if (guarded()) unsupported("a guarded brx.idx");
      op.code = exec::kBranchTable;
      op.a = source(in.srcs.at(0), false);
      op.imm = static_cast<int32_t>(out_.tables.size());
      op.d = static_cast<uint16_t>(in.targets.size());
      op.b = static_cast<uint16_t>(in.targets.size() >> 16);
      op.c = static_cast<uint16_t>(instr_id_);
      op.x = static_cast<uint16_t>(instr_id_ >> 16);
      out_.tables.insert(out_.tables.end(), in.targets.begin(), in.targets.end());
      *ended = true;
      break;
    case Opcode::kRet:
    case Opcode::kExit:
      op.code = exec::kExit;
      *ended = true;
      break;
    case Opcode::kTrap:
      op.code = exec::kTrap;
      op.imm = static_cast<int32_t>(instr_id_);
      break;
    case Opcode::kWgmmaWait:
    case Opcode::kBar:
    case Opcode::kBarRed:
      op.code = exec::kBarrier;
      op.imm = static_cast<int32_t>(out_.barriers.size());
      out_.barriers.push_back(barrier(in));
      *ended = true;
      break;
    case Opcode::kPhaseWait:
      phase_wait(in, &op);
      *ended = true;
      break;
    case Opcode::kSystem:
      op.code = exec::kSystem;
      op.imm = static_cast<int32_t>(out_.system_calls.size());
      system_call(in);
      *ended = true;
      break;
    default:
      unsupported("this instruction");
  }
  if (*ended && instr_id_ + 1 != block.first + block.count)
    unsupported("control flow in the middle of a basic block");
  emit(op);
}

void Decoder::system_call(const Instr& in) {
  SystemDesc desc;
  desc.instruction = instr_id_;
  size_t wanted = 1;
  switch (in.mod.system) {
    case ptx::SystemCall::kPrintf:
      desc.kind = exec::SystemKind::kPrintf;
      wanted = 2;
      break;
    case ptx::SystemCall::kAssert:
      desc.kind = exec::SystemKind::kAssert;
      wanted = 5;
      break;
    case ptx::SystemCall::kMalloc:
      desc.kind = exec::SystemKind::kMalloc;
      break;
    case ptx::SystemCall::kDevice:
      desc.kind = exec::SystemKind::kDevice;
      desc.call = static_cast<ptx::DeviceCall>(in.mod.detail);
      wanted = ptx::num_arguments(desc.call);
      break;
    default:
      desc.kind = exec::SystemKind::kFree;
  }
  if (in.srcs.size() != wanted) unsupported("a call of the runtime with these arguments");
  for (const Operand& s : in.srcs) {
    const bool wide = s.kind != Operand::Kind::kRegister || is_wide(s.reg);
    desc.wide[desc.num_arguments] = wide;
    desc.rows[desc.num_arguments++] = source(s, wide);
  }
  if (!in.dsts.empty() && in.dsts[0] != kNone) {
    desc.result = destination(in.dsts[0]).row;
    desc.result_wide = is_wide(in.dsts[0]);
  }
  out_.system_calls.push_back(desc);
}

}  // namespace nearwarp::runtime
