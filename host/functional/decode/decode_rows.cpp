// The part of Decoder that assigns rows (a value for each lane of a warp) to registers, constants,
// parameters and temporaries, and finds the row of an operand.
#include "host/functional/decode/decoder.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using compiler::RegId;
using exec::kNoRow;
using exec::Op;
using ptx::Opcode;
using ptx::Space;
using ptx::SpecialReg;

/// Which part of a clock a special register reads: 0 the low half, 1 the high half, 2 all 64 bits;
/// -1 if it is no clock.
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

/// Find the registers whose only definition copies a constant row: they need no row of their own.
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
  known_.clear();
  stands_for_.clear();
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

/// Give back the rows of temporaries, and of block-local registers that are not used after the
/// instruction at `position`.
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
    return local_row(reg);  // read before any definition: undefined, so any row will do
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
  if (reg == kNone) return discard_predicate_;
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
      // The register was an alias of a constant row so far. A guarded write must leave that
      // constant in the lanes that it does not write.
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

}  // namespace nearwarp::runtime
