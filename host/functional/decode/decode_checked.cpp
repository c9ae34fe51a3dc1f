// Decoder: operations that report accesses and synchronisation to the race detector
// (host/functional/racecheck).
#include <algorithm>

#include "host/functional/compiler/products.h"
#include "host/functional/compiler/visit.h"
#include "host/functional/decode/decoder.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::runtime {

using exec::AtomOp;
using exec::CheckedSync;
using exec::MemDesc;
using exec::MemSpace;
using ptx::Opcode;

exec::Shuffle Decoder::shuffle_mode(ptx::ShflMode mode) {
  return mode == ptx::ShflMode::kUp     ? exec::Shuffle::kUp
         : mode == ptx::ShflMode::kDown ? exec::Shuffle::kDown
         : mode == ptx::ShflMode::kBfly ? exec::Shuffle::kButterfly
                                        : exec::Shuffle::kIndex;
}

/// Does any instruction read a result of `in`?
bool Decoder::result_is_used(const Instr& in) const {
  bool used = false;
  for (const Instr& other : kernel_.instructions) {
    compiler::for_each_use(other, [&](compiler::RegId reg) {
      used = used || std::find(in.dsts.begin(), in.dsts.end(), reg) != in.dsts.end();
    });
  }
  return used;
}

/// Adds the rules of an access, whose descriptor `desc` was added last, and turns its two
/// operations into checked ones if it needs a check.
void Decoder::check_access(const Instr& in, const MemDesc& desc, exec::Op* full,
                           exec::Op* partial) {
  racecheck::AccessRules rules;
  const bool arrives = desc.atomic == AtomOp::kArrive;  // at an mbarrier, which also releases
  rules.strong = desc.polls != 0;
  rules.acquire = in.mod.acquire || arrives;
  rules.release = in.mod.release || arrives;
  rules.block_scope = in.mod.block_scope;
  rules.cluster_scope = in.mod.cluster_scope;
  rules.async_copy = in.mod.async_copy;
  rules.blind = desc.atomic == AtomOp::kExch && !result_is_used(in);
  out_.rules.push_back(rules);
  // Only the host writes constants and parameters, and local memory belongs to one thread.
  if (in.mod.space == ptx::Space::kConst || in.mod.space == ptx::Space::kParam) return;
  if (desc.space == MemSpace::kLocal) return;
  full->code = partial->code = exec::kCheckedAccess;
}

/// Emits checks for fences, for instructions at which lanes wait for each other, and for groups of
/// asynchronous copies.
void Decoder::check_sync(const Instr& in) {
  racecheck::SyncRules rules;
  const auto members = [&](size_t index) {
    rules.exchanges = in.op != Opcode::kBarWarp;
    rules.has_mask = in.srcs.size() > index;
    rules.operand =
        rules.has_mask ? source(in.srcs[index], false) : constant(exec::kFullMask, false);
    return emit_sync(rules);
  };
  const auto other = [&](CheckedSync what, uint16_t operand = 0) {
    rules.what = what;
    rules.operand = operand;
    emit_sync(rules);
  };
  switch (in.op) {
    case Opcode::kMembar:
      rules.proxy = in.mod.mode == 1;
      return other(in.mod.block_scope     ? CheckedSync::kBlockFence
                   : in.mod.cluster_scope ? CheckedSync::kClusterFence
                                          : CheckedSync::kFence);
    case Opcode::kBarWarp:
    case Opcode::kElect:
      return members(0);
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
      return members(1);
    case Opcode::kShfl:
      rules.shuffles = true;
      rules.mode = shuffle_mode(in.mod.shfl);
      rules.lane = source(in.srcs.at(1), false);
      rules.clamp = source(in.srcs.at(2), false);
      return members(3);
    case Opcode::kWgmmaCommit:
      return other(CheckedSync::kProductCommit);
    case Opcode::kNop:
      if (in.mod.mode == 1) return other(CheckedSync::kProductFence);
      break;
    default:
      return;
  }
  switch (static_cast<ptx::CopyGroup>(in.mod.detail)) {
    case ptx::CopyGroup::kCommit:
      return other(CheckedSync::kCommit);
    case ptx::CopyGroup::kWaitAll:
      return other(CheckedSync::kWaitAll);
    case ptx::CopyGroup::kBulkCommit:
      return other(CheckedSync::kStoreCommit);
    case ptx::CopyGroup::kBulkWait:
    case ptx::CopyGroup::kBulkWaitRead:
      return other(CheckedSync::kStoreWait, source(in.srcs.at(0), false));
    case ptx::CopyGroup::kWaitGroup:
      return other(CheckedSync::kWaitGroup, source(in.srcs.at(0), false));
    default:
      break;
  }
}

/// Finds the registers that matrix products of warpgroups read or write, and copies of these
/// registers.
void Decoder::find_product_registers() {
  std::vector<bool>& of = product_registers_;
  of.assign(kernel_.registers.size(), false);
  bool any = false;
  for (const Instr& in : kernel_.instructions) {
    if (!compiler::is_group_product(in)) continue;
    any = true;
    for (const compiler::RegId reg : in.dsts) of[reg] = true;
    compiler::for_each_factor(in, [&](compiler::RegId reg) { of[reg] = true; });
  }
  for (bool more = any; more;) {
    more = false;
    for (const Instr& in : kernel_.instructions) {
      if (in.op != Opcode::kMov || in.dsts.size() != 1 || in.srcs.size() != 1) continue;
      const compiler::Operand& from = in.srcs[0];
      const compiler::RegId to = in.dsts[0];
      if (from.kind != compiler::OperandKind::kRegister || to == compiler::kNone) continue;
      if (of[from.reg] == of[to]) continue;
      more = of[from.reg] = of[to] = true;
    }
  }
  if (!any) of.clear();
}

/// Emits a check for an instruction that uses registers of a product, which may still be computed.
void Decoder::check_touch(const Instr& in) {
  if (product_registers_.empty()) return;
  bool touches = false;
  const auto look = [&](compiler::RegId reg) { touches = touches || product_registers_[reg]; };
  compiler::for_each_use(in, look);
  compiler::for_each_def(in, look);
  if (!touches) return;
  racecheck::SyncRules rules;
  rules.what = CheckedSync::kTouch;
  emit_sync(rules);
}

void Decoder::emit_sync(racecheck::SyncRules rules) {
  rules.instruction = instr_id_;
  exec::Op op;
  op.code = exec::kCheckedSync;
  op.x = guard();
  op.imm = static_cast<int32_t>(out_.syncs.size());
  out_.syncs.push_back(rules);
  emit(op);
}

}  // namespace nearwarp::runtime
