// Decoder: rows, emission of operations, control flow.
#include "host/functional/decode/decoder.h"

#include <utility>

#include "host/functional/compiler/visit.h"
#include "host/functional/ptx/details.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using compiler::RegId;
using exec::kNoRow;
using exec::Op;
using ptx::Opcode;
using ptx::Space;
using ptx::SpecialReg;

Decoder::Decoder(const compiler::Kernel& kernel, std::string path,
                 const SymbolAddress& symbol_address, bool checked)
    : kernel_(kernel), path_(std::move(path)), symbol_address_(symbol_address), checked_(checked) {}

void Decoder::unsupported(const std::string& what) const {
  throw Error(what + " is not supported by the executor (" + path_ + ":" +
              std::to_string(in_ == nullptr ? 0 : in_->ptx_line) + ", kernel " + kernel_.name +
              ")");
}

int clock_part(SpecialReg reg) {
  switch (reg) {
    case SpecialReg::kClock:
    case SpecialReg::kGlobaltimerLo:
      return 0;
    case SpecialReg::kClockHi:
    case SpecialReg::kGlobaltimerHi:
      return 1;
    case SpecialReg::kClock64:
    case SpecialReg::kGlobaltimer:
      return 2;
    default:
      return -1;
  }
}

int32_t Decoder::clock_operand(int part) const {
  return static_cast<int32_t>((block_end_ - instr_id_) << 2 | static_cast<uint32_t>(part));
}

// --- Rows ----------------------------------------------------------------------------------------

uint16_t Decoder::new_rows(bool wide) {
  if (next_row_ + 2 >= kNoRow) unsupported("a kernel with this many registers and constants");
  const uint32_t row = next_row_;
  next_row_ += wide ? 2 : 1;
  return static_cast<uint16_t>(row);
}

uint16_t Decoder::constant(uint64_t value, bool wide) {
  if (!wide) value &= 0xffffffffu;
  const auto [it, is_new] = constants_.try_emplace({value, wide}, uint16_t{0});
  if (is_new) {
    it->second = new_rows(wide);
    RowInit init;
    init.kind = RowInit::Kind::kValue;
    init.wide = wide;
    init.row = it->second;
    init.value = value;
    out_.inits.push_back(init);
  }
  return it->second;
}

uint16_t Decoder::special(SpecialReg reg) {
  const auto [it, is_new] = specials_.try_emplace(reg, uint16_t{0});
  if (is_new) {
    it->second = new_rows(false);
    RowInit init;
    init.kind = RowInit::Kind::kSpecial;
    init.special = reg;
    init.row = it->second;
    out_.uses_reserved_shared =
        out_.uses_reserved_shared ||
        (reg >= SpecialReg::kReservedSmemBegin && reg <= SpecialReg::kReservedSmem1);
    out_.inits.push_back(init);
  }
  return it->second;
}

uint16_t Decoder::parameter(uint32_t offset, uint32_t bytes, bool is_signed, bool wide) {
  const auto [it, is_new] = parameters_.try_emplace({offset, bytes, is_signed, wide}, uint16_t{0});
  if (is_new) {
    it->second = new_rows(wide);
    RowInit init;
    init.kind = RowInit::Kind::kParam;
    init.wide = wide;
    init.is_signed = is_signed;
    init.bytes = static_cast<uint8_t>(bytes);
    init.row = it->second;
    init.value = offset;
    out_.inits.push_back(init);
  }
  return it->second;
}

uint32_t Decoder::reg_bytes(RegId reg) const { return ptx::size_of(kernel_.registers[reg].type); }
bool Decoder::is_wide(RegId reg) const { return reg_bytes(reg) == 8; }
bool Decoder::is_predicate(RegId reg) const {
  return kernel_.registers[reg].type == ptx::Type::kPred;
}

/// The constant row that an unguarded mov, cvta or ld.param copies, if it copies one.
std::optional<uint16_t> Decoder::alias_source(const Instr& in) {
  if (in.guard != kNone || in.dsts.size() != 1 || in.dsts[0] == kNone || is_predicate(in.dsts[0]))
    return {};
  const bool wide = is_wide(in.dsts[0]);
  const bool whole = in.op == Opcode::kMov && in.srcs.size() == 1 &&
                     ptx::size_of(in.mod.type) == reg_bytes(in.dsts[0]);
  const bool identity = in.op == Opcode::kCvta && in.mod.space != Space::kShared &&
                        in.mod.space != Space::kLocal && in.srcs.size() == 1;
  if (whole || identity) {
    const Operand& s = in.srcs[0];
    switch (s.kind) {
      case Operand::Kind::kImmediate:
      case Operand::Kind::kSymbol:
        return source(s, wide);
      case Operand::Kind::kSpecial:
        if (wide || reg_bytes(in.dsts[0]) != 4) return {};
        if (clock_part(s.special) >= 0) return {};
        return special(s.special);
      case Operand::Kind::kRegister:
        if (is_predicate(s.reg) || reg_bytes(s.reg) != reg_bytes(in.dsts[0])) return {};
        if (alias_[s.reg] != kNoRow) return alias_[s.reg];
        if (local_alias_[s.reg] != kNoRow) return local_alias_[s.reg];
        return {};
      default:
        return {};
    }
  }
  if (in.op == Opcode::kLd && in.mod.space == Space::kParam && in.mod.vector == 1 &&
      in.address.base == kNone && in.address.symbol != kNone) {
    const compiler::Symbol& symbol = kernel_.symbols[in.address.symbol];
    const uint32_t bytes = ptx::size_of(in.mod.type);
    const int64_t offset = static_cast<int64_t>(symbol.offset) + in.address.offset;
    if (symbol.space != Space::kParam || offset < 0 ||
        offset + bytes > int64_t{kernel_.param_bytes} || reg_bytes(in.dsts[0]) < 4)
      return {};
    return parameter(static_cast<uint32_t>(offset), bytes, ptx::is_signed(in.mod.type), wide);
  }
  return {};
}

/// Registers with one definition, which copies a constant row, are that row everywhere.
void Decoder::find_aliases() {
  num_defs_.assign(kernel_.registers.size(), 0);
  alias_.assign(kernel_.registers.size(), kNoRow);
  local_alias_.assign(kernel_.registers.size(), kNoRow);
  for (const Instr& in : kernel_.instructions)
    for (const RegId d : in.dsts)
      if (d != kNone) ++num_defs_[d];
  for (const Instr& in : kernel_.instructions) {
    in_ = &in;
    if (in.dsts.size() != 1 || in.dsts[0] == kNone || num_defs_[in.dsts[0]] != 1) continue;
    if (const auto row = alias_source(in)) alias_[in.dsts[0]] = *row;
  }
}

void Decoder::begin_block(const compiler::Block& block) {
  full_.clear();
  partial_.clear();
  trace_words_ = 1;
  for (uint32_t i = block.first; i < block.first + block.count; ++i) {
    const Instr& in = kernel_.instructions[i];
    const auto touch = [&](RegId reg) {
      if (reg != kNone) last_use_[reg] = i;
    };
    for (const RegId d : in.dsts) touch(d);
    for (const Operand& s : in.srcs) touch(s.reg);
    touch(in.address.base);
  }
}

/// Return rows of block-local registers that are not used after instruction `position`.
void Decoder::end_instruction(uint32_t position) {
  for (const auto& [row, wide] : temporaries_) give_pool(row, wide);
  temporaries_.clear();
  temporary_predicates_ = 0;
  for (size_t i = 0; i < local_regs_.size();) {
    const RegId reg = local_regs_[i];
    if (last_use_[reg] > position) {
      ++i;
      continue;
    }
    if (local_rows_[reg] != kNoRow) give_pool(local_rows_[reg], is_wide(reg));
    local_rows_[reg] = kNoRow;
    local_alias_[reg] = kNoRow;
    local_regs_[i] = local_regs_.back();
    local_regs_.pop_back();
  }
}

uint16_t Decoder::take_pool(bool wide) {
  std::vector<uint16_t>& pool = pool_[wide];
  if (pool.empty()) return new_rows(wide);
  const uint16_t row = pool.back();
  pool.pop_back();
  return row;
}
void Decoder::give_pool(uint16_t row, bool wide) { pool_[wide].push_back(row); }

uint16_t Decoder::local_row(RegId reg) {
  if (local_rows_[reg] == kNoRow) {
    if (local_alias_[reg] == kNoRow) local_regs_.push_back(reg);
    local_rows_[reg] = take_pool(is_wide(reg));
  }
  return local_rows_[reg];
}

uint16_t Decoder::temporary(bool wide) {
  const uint16_t row = take_pool(wide);
  temporaries_.push_back({row, wide});
  return row;
}

uint16_t Decoder::temporary_predicate() {
  const uint32_t index = temporary_predicates_++;
  if (temporary_predicates_ > most_temporary_predicates_)
    most_temporary_predicates_ = temporary_predicates_;
  return static_cast<uint16_t>(discard_predicate_ + 1 + index);
}

uint16_t Decoder::source_reg(RegId reg) {
  if (alias_[reg] != kNoRow) return alias_[reg];
  const compiler::Register& r = kernel_.registers[reg];
  if (r.block_local) {
    if (local_rows_[reg] != kNoRow) return local_rows_[reg];
    if (local_alias_[reg] != kNoRow) return local_alias_[reg];
    return local_row(reg);  // read before any definition: whatever the row holds
  }
  if (r.physical == kNone) return constant(0, is_wide(reg));
  const auto [it, is_new] = physical_rows_.try_emplace({r.physical, is_wide(reg)}, uint16_t{0});
  if (is_new) it->second = new_rows(is_wide(reg));
  return it->second;
}

uint16_t Decoder::source(const Operand& s, bool wide) {
  switch (s.kind) {
    case Operand::Kind::kRegister:
      return source_reg(s.reg);
    case Operand::Kind::kImmediate:
      return constant(s.bits, wide);
    case Operand::Kind::kSymbol:
      return constant(symbol_address_(kernel_.symbols[s.symbol]) + s.bits, wide);
    case Operand::Kind::kSpecial: {
      if (const int which = clock_part(s.special); which >= 0) {
        const uint16_t clock = temporary(wide);
        slow_unguarded(exec::kClock, clock, 0, 0, 0, clock_operand(wide ? 2 : which));
        return clock;
      }
      const uint16_t row = special(s.special);
      return wide ? fast_temporary(exec::kCvtU64U32, true, row) : row;
    }
    case Operand::Kind::kNone:
      break;
  }
  unsupported("an instruction with a missing operand");
}

uint16_t Decoder::predicate(RegId reg) const {
  const uint32_t physical = kernel_.registers[reg].physical;
  if (physical == kNone) return discard_predicate_;
  return static_cast<uint16_t>(exec::kFirstPredicate + physical);
}

uint16_t Decoder::predicate_operand(const Operand& s) {
  if (s.kind == Operand::Kind::kImmediate)
    return static_cast<uint16_t>(exec::kTruePredicate * 2 + ((s.bits != 0) == s.negated ? 1 : 0));
  if (s.kind != Operand::Kind::kRegister) unsupported("this operand in place of a predicate");
  return static_cast<uint16_t>(predicate(s.reg) * 2 + (s.negated ? 1 : 0));
}

Decoder::Dest Decoder::destination(RegId reg) {
  if (reg == kNone) return {discard_row_, true};
  const compiler::Register& r = kernel_.registers[reg];
  if (r.type == ptx::Type::kB128) unsupported("a 128-bit register");
  if (r.block_local) {
    if (local_alias_[reg] != kNoRow && local_rows_[reg] == kNoRow) {
      // The register was a constant so far; a guarded write keeps that in the other lanes.
      const uint16_t old = local_alias_[reg];
      const uint16_t row = local_row(reg);
      local_alias_[reg] = kNoRow;
      if (guarded()) {
        Op op;
        op.code = is_wide(reg) ? exec::kMov64 : exec::kMov32;
        op.d = row;
        op.a = old;
        emit(op);
      }
    }
    return {local_row(reg), true};
  }
  if (r.physical == kNone) return {discard_row_, true};
  return {source_reg(reg), false};
}

uint16_t Decoder::guard() const {
  if (in_->guard == kNone) return exec::kTruePredicate * 2;
  return static_cast<uint16_t>(predicate(in_->guard) * 2 + (in_->guard_negated ? 1 : 0));
}

// --- Emission ------------------------------------------------------------------------------------

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

// --- Control -------------------------------------------------------------------------------------

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
    case Opcode::kWgmmaWait: {
      BarrierDesc desc;
      desc.instruction = instr_id_;
      desc.kind = BarrierDesc::Kind::kGroup;
      op.code = exec::kBarrier;
      op.imm = static_cast<int32_t>(out_.barriers.size());
      out_.barriers.push_back(desc);
      *ended = true;
      break;
    }
    case Opcode::kPhaseWait: {
      exec::MemDesc desc = describe(in);
      desc.traced = 0;
      address(in, &desc, &op.a, &op.imm);
      if (out_.memory.size() >= 0xffff) unsupported("a kernel with this many memory instructions");
      op.code = exec::kPhaseWait;
      op.b = predicate(in.dsts.at(0));
      op.c = static_cast<uint16_t>(out_.memory.size());
      out_.memory.push_back(desc);
      if (checked_) out_.rules.emplace_back();
      out_.has_mbarriers = true;
      *ended = true;
      break;
    }
    case Opcode::kBar:
    case Opcode::kBarRed: {
      using Kind = BarrierDesc::Kind;
      BarrierDesc desc;
      desc.instruction = instr_id_;
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
      op.code = exec::kBarrier;
      op.imm = static_cast<int32_t>(out_.barriers.size());
      out_.barriers.push_back(desc);
      *ended = true;
      break;
    }
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
