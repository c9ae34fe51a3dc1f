// Decoder: loads, stores, atomics and exchange between lanes.
#include <algorithm>

#include "device/trace/writer.h"
#include "host/functional/decode/decoder.h"
#include "host/functional/instructions/warp_ops.h"
#include "host/recording/trace_replay.h"

namespace nearwarp::runtime {

using compiler::kNone;
using compiler::Operand;
using exec::AtomOp;
using exec::MemDesc;
using exec::MemSpace;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

bool Decoder::memory(const Instr& in) {
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kLdu:
      load(in);
      return true;
    case Opcode::kSt:
      store(in);
      return true;
    case Opcode::kAtom:
    case Opcode::kRed:
      atomic(in);
      return true;
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kActivemask:
    case Opcode::kRedux:
    case Opcode::kElect:
    case Opcode::kIsspacep:
      warp_level(in);
      return true;
    default:
      return false;
  }
}

MemDesc Decoder::describe(const Instr& in) {
  MemDesc desc;
  desc.instruction = instr_id_;
  desc.bytes = static_cast<uint8_t>(ptx::size_of(in.mod.type));
  desc.vector = in.mod.vector;
  desc.extend = ptx::is_signed(in.mod.type) ? exec::Extend::kSign : exec::Extend::kZero;
  desc.guarded = guarded();
  desc.polls = in.mod.is_volatile || in.mod.ordered;
  desc.traced = leaves_record(in) ? 1 : 0;
  desc.matrices = in.mod.matrices;
  desc.transposed = in.mod.transposed ? 1 : 0;
  switch (in.mod.space) {
    case Space::kGlobal:
      desc.space = MemSpace::kGlobal;
      break;
    case Space::kConst:
    case Space::kParam:
      desc.space = MemSpace::kGlobal;
      break;
    case Space::kShared:
      desc.space = MemSpace::kShared;
      break;
    case Space::kLocal:
      desc.space = MemSpace::kLocal;
      break;
    case Space::kGeneric:
    case Space::kNone:
      desc.space = MemSpace::kGeneric;
      break;
  }
  if (desc.bytes != 1 && desc.bytes != 2 && desc.bytes != 4 && desc.bytes != 8)
    unsupported("a memory access of this type");
  if (desc.vector > 4 || desc.vector * desc.bytes > 16)
    unsupported("a memory access of more than 16 bytes");
  if (desc.traced) trace_words_ += trace::kMaxRecordWords;
  return desc;
}

void Decoder::address(const Instr& in, MemDesc* desc, uint16_t* row, int32_t* imm) {
  uint64_t fixed = 0;
  int64_t offset = in.address.offset;
  if (in.address.symbol != kNone) fixed = symbol_address_(kernel_.symbols[in.address.symbol]);
  if (in.address.base == kNone) {
    *row = constant(fixed + static_cast<uint64_t>(offset), true);
    *imm = 0;
    desc->address64 = 1;
    return;
  }
  desc->address64 = is_wide(in.address.base);
  uint16_t base = source_reg(in.address.base);
  const uint64_t total = fixed + static_cast<uint64_t>(offset);
  const int64_t signed_total = static_cast<int64_t>(total);
  if (signed_total < INT32_MIN || signed_total > INT32_MAX) {
    if (!desc->address64) unsupported("an address of this form");
    base = fast_temporary(exec::kAdd64, true, base, constant(total, true));
    offset = 0;
  } else {
    offset = signed_total;
  }
  *row = base;
  *imm = static_cast<int32_t>(offset);
}

namespace {

/// Whole words of device memory, one per lane, with nothing special about them.
bool is_plain_global(const MemDesc& desc) {
  return desc.vector == 1 && !desc.polls && desc.traced && desc.bytes >= 4 &&
         desc.bytes == desc.reg_bytes && desc.space == MemSpace::kGlobal && desc.address64;
}

/// The code of an unguarded access of a full warp, or `general`.
uint16_t full_code(const MemDesc& desc, bool load, uint16_t general) {
  if (desc.vector != 1 || desc.guarded || desc.polls || !desc.traced) return general;
  if (desc.bytes != desc.reg_bytes || desc.bytes < 4) return general;
  const bool wide = desc.bytes == 8;
  if (desc.space == MemSpace::kGlobal && desc.address64)
    return load ? (wide ? exec::kLoadGlobal64Full : exec::kLoadGlobal32Full)
                : (wide ? exec::kStoreGlobal64Full : exec::kStoreGlobal32Full);
  if (desc.space == MemSpace::kShared && !desc.address64)
    return load ? (wide ? exec::kLoadShared64Full : exec::kLoadShared32Full)
                : (wide ? exec::kStoreShared64Full : exec::kStoreShared32Full);
  if (desc.space == MemSpace::kShared && !wide)
    return load ? exec::kLoadShared32FullA64 : exec::kStoreShared32FullA64;
  return general;
}

}  // namespace

void Decoder::load(const Instr& in) {
  // Parameters at fixed offsets are constant rows.
  if (in.mod.space == Space::kParam && in.address.base == kNone && in.address.symbol != kNone &&
      kernel_.symbols[in.address.symbol].space == Space::kParam) {
    const uint32_t bytes = ptx::size_of(in.mod.type);
    const int64_t first =
        static_cast<int64_t>(kernel_.symbols[in.address.symbol].offset) + in.address.offset;
    if (first < 0 || first + int64_t{bytes} * in.mod.vector > int64_t{kernel_.param_bytes})
      unsupported("a load beyond the kernel's parameters");
    for (size_t e = 0; e < in.dsts.size(); ++e) {
      if (in.dsts[e] == kNone) continue;
      const bool wide = is_wide(in.dsts[e]);
      const uint16_t row =
          parameter(static_cast<uint32_t>(first) + static_cast<uint32_t>(e) * bytes, bytes,
                    ptx::is_signed(in.mod.type), wide);
      const Dest d = destination(in.dsts[e]);
      if (reg_bytes(in.dsts[e]) == 2)
        fast(exec::kExtU16, d, row);
      else
        move(d, row, wide);
    }
    return;
  }
  MemDesc desc = describe(in);
  exec::Op op;
  address(in, &desc, &op.a, &op.imm);
  desc.reg_bytes = 4;
  bool is_first = true;
  for (size_t e = 0; e < desc.vector && e < in.dsts.size(); ++e) {
    if (in.dsts[e] == kNone) {
      desc.rows[e] = exec::kNoRow;
      continue;
    }
    const auto bytes = static_cast<uint8_t>(std::max<uint32_t>(2, reg_bytes(in.dsts[e])));
    if (!is_first && bytes != desc.reg_bytes)
      unsupported("a vector of registers of several widths");
    is_first = false;
    desc.reg_bytes = bytes;
    desc.rows[e] = destination(in.dsts[e]).row;
  }
  if (in.dsts.size() != desc.vector) unsupported("a load with this number of destinations");
  op.d = desc.rows[0];
  op.x = guard();
  if (out_.memory.size() >= 0xffff) unsupported("a kernel with this many memory instructions");
  op.c = static_cast<uint16_t>(out_.memory.size());
  op.code = exec::kLoad;
  if (is_plain_global(desc))
    op.code = desc.bytes == 8 ? exec::kLoadGlobal64M : exec::kLoadGlobal32M;
  exec::Op full = op;
  if (op.d == exec::kNoRow)
    op.code = full.code = exec::kLoad;
  else
    full.code = full_code(desc, true, op.code);
  out_.memory.push_back(desc);
  if (checked_) check_access(in, desc, &full, &op);
  full.c = op.c = share_access(op.c);
  emit_both(full, op);
}

void Decoder::store(const Instr& in) {
  MemDesc desc = describe(in);
  desc.is_store = 1;
  if (in.mod.space == Space::kConst || in.mod.space == Space::kParam)
    unsupported("a store to this space");
  exec::Op op;
  address(in, &desc, &op.a, &op.imm);
  if (in.srcs.size() != desc.vector) unsupported("a store with this number of values");
  bool wide = desc.bytes == 8, is_first = true;
  for (const Operand& s : in.srcs) {
    if (s.kind != Operand::Kind::kRegister) continue;
    if (!is_first && is_wide(s.reg) != wide) unsupported("a vector of registers of several widths");
    is_first = false;
    wide = is_wide(s.reg);
  }
  desc.reg_bytes = wide ? 8 : 4;
  for (size_t e = 0; e < desc.vector; ++e) desc.rows[e] = source(in.srcs[e], wide);
  op.b = desc.rows[0];
  op.x = guard();
  if (out_.memory.size() >= 0xffff) unsupported("a kernel with this many memory instructions");
  op.c = static_cast<uint16_t>(out_.memory.size());
  op.code = exec::kStore;
  if (is_plain_global(desc))
    op.code = desc.bytes == 8 ? exec::kStoreGlobal64M : exec::kStoreGlobal32M;
  exec::Op full = op;
  full.code = full_code(desc, false, op.code);
  out_.memory.push_back(desc);
  if (checked_) check_access(in, desc, &full, &op);
  full.c = op.c = share_access(op.c);
  emit_both(full, op);
}

AtomOp Decoder::atom_op(ptx::AtomicOp op) {
  switch (op) {
    case ptx::AtomicOp::kAdd:
      return AtomOp::kAdd;
    case ptx::AtomicOp::kMin:
      return AtomOp::kMin;
    case ptx::AtomicOp::kMax:
      return AtomOp::kMax;
    case ptx::AtomicOp::kAnd:
      return AtomOp::kAnd;
    case ptx::AtomicOp::kOr:
      return AtomOp::kOr;
    case ptx::AtomicOp::kXor:
      return AtomOp::kXor;
    case ptx::AtomicOp::kExch:
      return AtomOp::kExch;
    case ptx::AtomicOp::kCas:
      return AtomOp::kCas;
    case ptx::AtomicOp::kInc:
      return AtomOp::kInc;
    case ptx::AtomicOp::kDec:
      return AtomOp::kDec;
    case ptx::AtomicOp::kArrive:
      return AtomOp::kArrive;
    case ptx::AtomicOp::kNone:
      break;
  }
  return AtomOp::kNone;
}

void Decoder::atomic(const Instr& in) {
  MemDesc desc = describe(in);
  desc.is_store = 1;
  desc.polls = 1;
  desc.atomic = atom_op(in.mod.atomic);
  desc.is_signed = ptx::is_signed(in.mod.type);
  desc.is_float = ptx::is_float(in.mod.type);
  if (in.mod.type == Type::kF16 || in.mod.type == Type::kF16x2) desc.is_float = 2;
  if (in.mod.type == Type::kBF16 || in.mod.type == Type::kBF16x2) desc.is_float = 4;
  if (desc.atomic == AtomOp::kArrive) {
    desc.traced = 0;  // as addresses
    out_.has_mbarriers = true;
  }
  const bool half_word = desc.bytes == 2;
  const bool pair = desc.vector == 2 && desc.bytes == 8 &&
                    (desc.atomic == AtomOp::kCas || desc.atomic == AtomOp::kExch);
  if (desc.atomic == AtomOp::kNone || desc.bytes < 2 || (desc.vector != 1 && !pair) ||
      (desc.is_float && desc.atomic != AtomOp::kAdd && desc.atomic != AtomOp::kExch &&
       desc.atomic != AtomOp::kMin && desc.atomic != AtomOp::kMax) ||
      (half_word && !desc.is_float && desc.atomic != AtomOp::kCas &&
       desc.atomic != AtomOp::kExch) ||
      in.mod.space == Space::kConst || in.mod.space == Space::kParam ||
      in.mod.space == Space::kLocal)
    unsupported("an atomic operation of this form");
  exec::Op op;
  address(in, &desc, &op.a, &op.imm);
  const bool wide = desc.bytes == 8;
  desc.reg_bytes = desc.bytes;
  desc.operand_b = source(in.srcs.at(0), wide);
  if (pair) {  // rows: of the result, then the upper halves of the operands
    desc.rows[2] = source(in.srcs.at(1), true);
    if (desc.atomic == AtomOp::kCas) {
      desc.operand_c = source(in.srcs.at(2), true);
      desc.rows[3] = source(in.srcs.at(3), true);
    }
  } else if (desc.atomic == AtomOp::kCas) {
    desc.operand_c = source(in.srcs.at(1), wide);
  }
  desc.has_result = in.op == Opcode::kAtom && !in.dsts.empty() && in.dsts[0] != kNone;
  if (desc.has_result) op.d = destination(in.dsts[0]).row;
  if (pair && desc.has_result) {
    desc.rows[0] = op.d;
    desc.rows[1] = destination(in.dsts.at(1)).row;
  }
  op.x = guard();
  if (out_.memory.size() >= 0xffff) unsupported("a kernel with this many memory instructions");
  op.c = static_cast<uint16_t>(out_.memory.size());
  op.code = exec::kAtomic;
  out_.memory.push_back(desc);
  if (checked_) check_access(in, desc, &op, &op);
  op.c = share_access(op.c);
  emit(op);
}

/// Very large kernels' accesses that are alike share what is known of them (an error then names
/// the first one's line): there are fewer numbers for them than instructions. `last` is the newest.
uint16_t Decoder::share_access(uint16_t last) {
  constexpr size_t kMany = 0x8000;
  if (out_.memory.size() <= kMany) return last;
  const exec::MemDesc& desc = out_.memory.back();
  const auto* const begin = reinterpret_cast<const char*>(&desc.space);
  std::string key(begin, reinterpret_cast<const char*>(&desc.operand_c + 1) - begin);
  if (checked_) {
    const racecheck::AccessRules& rules = out_.rules.back();
    key.append(reinterpret_cast<const char*>(&rules), sizeof(rules));
  }
  const auto [at, is_new] = alike_.try_emplace(std::move(key), last);
  if (is_new) return last;
  out_.memory.pop_back();
  if (checked_) out_.rules.pop_back();
  return at->second;
}

void Decoder::warp_level(const Instr& in) {
  const auto predicate_field = [&](size_t index) {
    if (in.dsts.size() <= index || in.dsts[index] == kNone) return 0;
    return predicate(in.dsts[index]) + 1;
  };
  if (checked_) check_sync(in);
  switch (in.op) {
    case Opcode::kShfl: {
      const exec::Shuffle mode = shuffle_mode(in.mod.shfl);
      const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false),
                     c = source(in.srcs.at(2), false);
      slow(exec::kShuffle, destination(in.dsts.at(0)).row, a, b, c,
           static_cast<int>(mode) | predicate_field(1) << 8);
      return;
    }
    case Opcode::kVote: {
      exec::Vote mode = exec::Vote::kBallot;
      if (in.mod.vote == ptx::VoteMode::kAll) mode = exec::Vote::kAll;
      if (in.mod.vote == ptx::VoteMode::kAny) mode = exec::Vote::kAny;
      if (in.mod.vote == ptx::VoteMode::kUni) mode = exec::Vote::kUniform;
      const uint16_t a = predicate_operand(in.srcs.at(0));
      const uint16_t b =
          in.srcs.size() > 1 ? source(in.srcs[1], false) : constant(exec::kFullMask, false);
      uint16_t d;
      if (mode == exec::Vote::kBallot)
        d = destination(in.dsts.at(0)).row;
      else
        d = in.dsts.at(0) == kNone ? discard_predicate_ : predicate(in.dsts[0]);
      slow(exec::kVote, d, a, b, 0, static_cast<int>(mode));
      return;
    }
    case Opcode::kMatch: {
      const bool wide = ptx::size_of(in.mod.type) == 8;
      const uint16_t a = source(in.srcs.at(0), wide), b = source(in.srcs.at(1), false);
      slow(exec::kMatch, destination(in.dsts.at(0)).row, a, b, 0,
           (in.mod.vote == ptx::VoteMode::kAll ? 1 : 0) | (wide ? 2 : 0) | predicate_field(1) << 8);
      return;
    }
    case Opcode::kActivemask:
      slow(exec::kActiveMask, destination(in.dsts.at(0)).row, 0);
      return;
    case Opcode::kRedux: {
      const AtomOp kind = atom_op(in.mod.atomic);
      const uint16_t a = source(in.srcs.at(0), false), b = source(in.srcs.at(1), false);
      slow(exec::kRedux, destination(in.dsts.at(0)).row, a, b, 0,
           static_cast<int>(kind) | (ptx::is_signed(in.mod.type) ? 1 << 8 : 0) |
               (in.mod.type == Type::kF32 ? 1 << 9 : 0) | (in.mod.abs ? 1 << 10 : 0) |
               (in.mod.relu_nan ? 1 << 11 : 0));
      return;
    }
    case Opcode::kElect: {
      const uint16_t b = source(in.srcs.at(0), false);
      const uint16_t d =
          in.dsts.empty() || in.dsts[0] == kNone ? exec::kNoRow : destination(in.dsts[0]).row;
      slow(exec::kElect, d, 0, b, 0, predicate_field(1));
      return;
    }
    default: {
      MemSpace space = MemSpace::kGlobal;
      if (in.mod.space == Space::kShared) space = MemSpace::kShared;
      if (in.mod.space == Space::kLocal) space = MemSpace::kLocal;
      const uint16_t a = source(in.srcs.at(0), true);
      slow(exec::kIsSpace, predicate(in.dsts.at(0)), a, 0, 0,
           static_cast<int>(space) | in.mod.mode << 8);
    }
  }
}

}  // namespace nearwarp::runtime
