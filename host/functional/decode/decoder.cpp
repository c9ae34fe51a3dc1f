// Decoder: emission of operations, basic blocks one after the other.
#include "host/functional/decode/decoder.h"

#include <utility>

#include "host/functional/compiler/visit.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using compiler::RegId;
using exec::kNoRow;
using exec::Op;
using ptx::Opcode;

Decoder::Decoder(const compiler::Kernel& kernel, std::string path,
                 const SymbolAddress& symbol_address, bool checked)
    : kernel_(kernel), path_(std::move(path)), symbol_address_(symbol_address), checked_(checked) {}

void Decoder::unsupported(const std::string& what) const {
  throw Error(what + " is not supported by the executor (" + path_ + ":" +
              std::to_string(in_ == nullptr ? 0 : in_->ptx_line) + ", kernel " + kernel_.name +
              ")");
}

void Decoder::emit(const Op& op) { emit_both(op, op); }

void Decoder::emit_both(const Op& full, const Op& partial) {
  full_.push_back(full);
  partial_.push_back(partial);
}

void Decoder::fast(uint16_t code, Dest d, uint16_t a, uint16_t b, uint16_t c, int32_t imm) {
  Op op{code, d.row, a, b, c, guard(), imm};
  Op masked = op;
  masked.code = static_cast<uint16_t>(code + 1);
  emit_both(guarded() ? masked : op, guarded() || !d.local ? masked : op);
}

uint16_t Decoder::fast_temporary(uint16_t code, bool wide, uint16_t a, uint16_t b, uint16_t c,
                                 int32_t imm) {
  const uint16_t row = temporary(wide);
  emit(Op{code, row, a, b, c, 0, imm});
  return row;
}

void Decoder::slow(uint16_t code, uint16_t d, uint16_t a, uint16_t b, uint16_t c, int32_t imm) {
  emit(Op{code, d, a, b, c, guard(), imm});
}
void Decoder::slow_unguarded(uint16_t code, uint16_t d, uint16_t a, uint16_t b, uint16_t c,
                             int32_t imm) {
  emit(Op{code, d, a, b, c, 0, imm});
}

void Decoder::instruction(const Instr& in) {
  switch (in.op) {
    case Opcode::kMembar:
    case Opcode::kNanosleep:
    case Opcode::kNop:
    case Opcode::kPrefetch:
    case Opcode::kBarWarp:
    case Opcode::kWgmmaCommit:
      if (checked_) check_sync(in);
      return;  // counted, without effect on values
    case Opcode::kCall:
      unsupported("a call that was not inlined");
    default:
      break;
  }
  if (in.dsts.size() == 1 && in.dsts[0] != kNone && !is_predicate(in.dsts[0])) {
    const RegId d = in.dsts[0];
    if (alias_[d] != kNoRow) return;
    if (kernel_.registers[d].block_local) {
      if (const auto row = alias_source(in)) {
        if (local_rows_[d] != kNoRow) give_pool(local_rows_[d], is_wide(d));
        if (local_rows_[d] == kNoRow && local_alias_[d] == kNoRow) local_regs_.push_back(d);
        local_rows_[d] = kNoRow;
        local_alias_[d] = *row;
        return;
      }
    }
  }
  if (!extended(in) && !arithmetic(in) && !bits(in) && !memory(in)) unsupported("this instruction");
}

/// Has a block, which its lanes enter as one group, an instruction in which others take part? All
/// lanes, if any names these in so many words; else those that the first one names, in a register
/// that has its value at the block's head (the compiler sees to that) or by a constant.
void Decoder::add_meeting(const Instr& in, Meeting* meeting) {
  const Operand* members = compiler::members_of(in);
  if (members == nullptr) return;
  const bool constant_lanes = members->kind == Operand::Kind::kImmediate;
  if (constant_lanes && static_cast<uint32_t>(members->bits) == exec::kFullMask) {
    meeting->who = Meeting::Who::kAllLanes;
    return;
  }
  if (meeting->who != Meeting::Who::kNobody) return;
  if (!constant_lanes && members->kind != Operand::Kind::kRegister) return;
  *meeting = {Meeting::Who::kMembers, source(*members, false)};
}

DecodedKernel Decoder::run() {
  out_.kernel = &kernel_;
  new_rows(true);  // rows 0 and 1: zero
  {
    RowInit zero;
    zero.wide = true;
    out_.inits.push_back(zero);
  }
  constants_[{0, false}] = 0;
  constants_[{0, true}] = 0;
  discard_row_ = new_rows(true);
  discard_predicate_ = static_cast<uint16_t>(exec::kFirstPredicate + kernel_.num_predicates);
  local_rows_.assign(kernel_.registers.size(), kNoRow);
  last_use_.assign(kernel_.registers.size(), 0);
  find_aliases();
  if (checked_) find_product_registers();
  if (kernel_.blocks.empty()) unsupported("an empty kernel");
  for (const compiler::Block& block : kernel_.blocks) {
    begin_block(block);
    block_end_ = block.first + block.count;
    bool ended = false;
    Meeting meeting;
    for (uint32_t i = block.first; i < block.first + block.count; ++i) {
      in_ = &kernel_.instructions[i];
      instr_id_ = i;
      add_meeting(*in_, &meeting);
      if (checked_) check_touch(*in_);
      switch (in_->op) {
        case Opcode::kBra:
        case Opcode::kBrx:
        case Opcode::kRet:
        case Opcode::kExit:
        case Opcode::kTrap:
        case Opcode::kBar:
        case Opcode::kBarRed:
        case Opcode::kWgmmaWait:
        case Opcode::kPhaseWait:
        case Opcode::kSystem:
          control(*in_, block, &ended);
          break;
        default:
          instruction(*in_);
          know_address(*in_);
      }
      end_instruction(i);
    }
    if (!ended) {
      Op op;
      op.code = block.successors.empty() ? exec::kExit : exec::kNext;
      if (block.successors.size() == 1 && block.successors[0] != out_.blocks.size() + 1) {
        op.code = exec::kJump;
        op.imm = static_cast<int32_t>(block.successors[0]);
      }
      emit(op);
    }
    exec::BlockInfo info;
    info.full = static_cast<uint32_t>(out_.ops.size());
    info.partial = info.full + static_cast<uint32_t>(full_.size());
    info.count = block.count;
    info.ipdom = block.ipdom == kNone ? exec::kNoBlock : block.ipdom;
    info.trace_words = trace_words_;
    out_.ops.insert(out_.ops.end(), full_.begin(), full_.end());
    out_.ops.insert(out_.ops.end(), partial_.begin(), partial_.end());
    out_.blocks.push_back(info);
    out_.meetings.push_back(meeting);
  }
  out_.num_rows = next_row_;
  out_.num_predicates = discard_predicate_ + 1u + most_temporary_predicates_;
  if (out_.num_predicates >= 0x7fff) unsupported("a kernel with this many predicates");
  return std::move(out_);
}

DecodedKernel decode(const compiler::Kernel& kernel, const std::string& path,
                     const SymbolAddress& symbol_address, bool checked) {
  return Decoder(kernel, path, symbol_address, checked).run();
}

}  // namespace nearwarp::runtime
