#include "host/mechanisms/tuning/shared/shared_use.h"

#include <algorithm>
#include <set>

namespace nearwarp::compiler {

using ptx::AtomicOp;
using ptx::Opcode;
using ptx::Space;
using ptx::SpecialReg;
using ptx::Type;

namespace {

constexpr int kMaxDepth = 32;  // of definitions that are followed
constexpr uint64_t kAllBits = ~uint64_t{0};
constexpr InstrId kWarpBase = kNone;  // in sums: tid.x of the warp's first lane

bool is_immediate(const Operand& o) { return o.kind == Operand::Kind::kImmediate; }
bool is_register(const Operand& o) { return o.kind == Operand::Kind::kRegister; }

bool is_integer(Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kS32:
    case Type::kB32:
    case Type::kU64:
    case Type::kS64:
    case Type::kB64:
      return true;
    default:
      return false;
  }
}

/// Does zero change nothing under it, and does the order of operands not matter?
bool begins_with_zero(AtomicOp op, Type type) {
  if (!is_integer(type)) return false;  // sums of floating-point numbers depend on the order
  return op == AtomicOp::kAdd || op == AtomicOp::kOr || op == AtomicOp::kXor ||
         (op == AtomicOp::kMax && (type == Type::kU32 || type == Type::kU64));
}

int64_t signed_bits(const Operand& o) {
  return static_cast<int32_t>(static_cast<uint32_t>(o.bits));
}

/// All bits from the lowest of `bits` on: where a carry may go.
uint64_t from_lowest(uint64_t bits) { return bits == 0 ? 0 : ~((bits & (~bits + 1)) - 1); }

}  // namespace

bool reads_x_alone(const Kernel& kernel) {
  return std::none_of(kernel.instructions.begin(), kernel.instructions.end(),
                      [](const Instruction& i) {
                        return std::any_of(i.srcs.begin(), i.srcs.end(), [](const Operand& o) {
                          return o.kind == Operand::Kind::kSpecial &&
                                 (o.special == SpecialReg::kTidY || o.special == SpecialReg::kTidZ);
                        });
                      });
}

SharedArrays::SharedArrays(const Kernel& kernel, const SharedModel& model)
    : kernel_(&kernel), model_(&model) {
  if (!model.on) return;
  const bool any = std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                               [](const Instruction& i) { return i.mod.space == Space::kShared; });
  if (!any) return;
  definitions_.resize(kernel.registers.size());
  uses_.resize(kernel.registers.size());
  for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& in = kernel.instructions[i];
    for (const RegId r : in.dsts)
      if (r != kNone) definitions_[r].push_back(i);
    for (const Operand& o : in.srcs)
      if (is_register(o)) uses_[o.reg].push_back(i);
    if (in.address.base != kNone) uses_[in.address.base].push_back(i);
    if (in.guard != kNone) uses_[in.guard].push_back(i);
  }
  block_of_.assign(kernel.instructions.size(), kNone);
  for (BlockId b = 0; b < kernel.blocks.size(); ++b)
    std::fill_n(block_of_.begin() + kernel.blocks[b].first, kernel.blocks[b].count, b);
  find_accesses();
}

void SharedArrays::find_accesses() {
  for (InstrId i = 0; i < kernel_->instructions.size(); ++i) {
    const Instruction& in = kernel_->instructions[i];
    if (in.mod.space != Space::kShared) continue;
    if (in.op != Opcode::kLd && in.op != Opcode::kSt && in.op != Opcode::kAtom &&
        in.op != Opcode::kRed)
      continue;
    // Accesses that synchronise threads, or may change any time, must be seen where they are.
    if (in.mod.is_volatile || in.mod.async_copy) continue;
    const bool is_atomic = in.op == Opcode::kAtom || in.op == Opcode::kRed;
    if ((in.mod.ordered && !is_atomic) || in.mod.acquire || in.mod.release) continue;
    std::vector<uint32_t> symbols;
    std::vector<bool> seen(kernel_->registers.size(), false);
    if (in.address.symbol != kNone) symbols.push_back(in.address.symbol);
    if (in.address.base != kNone) origins(in.address.base, seen, symbols);
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    Access access;
    if (symbols.size() == 1 && kernel_->symbols[symbols[0]].space == Space::kShared)
      access.symbol = symbols[0];
    access.bytes = static_cast<uint32_t>(ptx::size_of(in.mod.type)) * in.mod.vector;
    accesses_.emplace(i, access);
  }
}

void SharedArrays::origins(RegId reg, std::vector<bool>& seen,
                           std::vector<uint32_t>& symbols) const {
  if (seen[reg]) return;
  seen[reg] = true;
  for (const InstrId d : definitions_[reg]) {
    const Instruction& in = kernel_->instructions[d];
    // A value from memory is an index; nothing says that it is an address.
    if (in.op == Opcode::kLd || in.op == Opcode::kLdu || in.op == Opcode::kAtom) continue;
    for (const Operand& o : in.srcs) {
      if (o.kind == Operand::Kind::kSymbol) symbols.push_back(o.symbol);
      if (is_register(o)) origins(o.reg, seen, symbols);
    }
  }
}

bool SharedArrays::is_inside(const Scope& scope, InstrId i) const {
  const BlockId b = block_of_[i];
  return b != kNone && scope.blocks[b] && (b != scope.entry || i >= scope.first);
}

InstrId SharedArrays::definition(RegId reg, InstrId at) const {
  const auto [entry, fresh] = found_.try_emplace({reg, at}, kNone);
  if (fresh) entry->second = find_definition(reg, at);
  return entry->second;
}

InstrId SharedArrays::find_definition(RegId reg, InstrId at) const {
  const std::vector<InstrId>& all = definitions_[reg];
  // The last one in [begin, end).
  const auto last_in = [&](InstrId begin, InstrId end) {
    const auto i = std::lower_bound(all.begin(), all.end(), end);
    return i == all.begin() || *std::prev(i) < begin ? kNone : *std::prev(i);
  };
  const auto unguarded = [&](InstrId d) {
    return kernel_->instructions[d].guard == kNone ? d : kNone;
  };
  if (all.empty()) return kNone;
  const InstrId here = last_in(kernel_->blocks[block_of_[at]].first, at);
  if (here != kNone) return unguarded(here);
  std::vector<bool> seen(kernel_->blocks.size(), false);
  std::vector<BlockId> open = {block_of_[at]};
  InstrId only = kNone;
  while (!open.empty()) {
    const BlockId b = open.back();
    open.pop_back();
    if (b == 0) return kNone;  // from the kernel's beginning without a value
    for (const BlockId p : kernel_->blocks[b].predecessors) {
      if (seen[p]) continue;
      seen[p] = true;
      const Block& block = kernel_->blocks[p];
      const InstrId d = last_in(block.first, block.first + block.count);
      if (d == kNone) {
        open.push_back(p);
      } else if (only == kNone || only == d) {
        only = d;
      } else {
        return kNone;
      }
    }
  }
  return only == kNone ? kNone : unguarded(only);
}

uint64_t SharedArrays::varying(const Operand& o, InstrId at, int depth) const {
  switch (o.kind) {
    case Operand::Kind::kRegister:
      return varying(o.reg, at, depth);
    case Operand::Kind::kSpecial:
      switch (o.special) {
        case SpecialReg::kTidX:
          return model_->flat_blocks ? 31 : kAllBits;
        case SpecialReg::kTidY:
        case SpecialReg::kTidZ:
          return model_->flat_blocks ? 0 : kAllBits;
        case SpecialReg::kLaneid:
          return 31;
        default:
          return o.special <= SpecialReg::kNctaidZ ? 0 : kAllBits;
      }
    default:
      return 0;  // immediates, addresses of symbols
  }
}

uint64_t SharedArrays::varying(RegId reg, InstrId at, int depth) const {
  const InstrId d = depth > kMaxDepth ? kNone : definition(reg, at);
  if (d == kNone) return kAllBits;
  const Instruction& in = kernel_->instructions[d];
  if (in.op == Opcode::kLd && in.mod.space == Space::kParam) return 0;
  if (in.dsts.size() != 1) return kAllBits;
  std::vector<uint64_t> bits;
  for (const Operand& o : in.srcs) bits.push_back(varying(o, d, depth + 1));
  const auto by_constant = [&] { return in.srcs.size() == 2 && is_immediate(in.srcs[1]); };
  const uint64_t constant = by_constant() ? in.srcs[1].bits : 0;
  const bool wide = ptx::size_of(in.mod.type) == 8;
  switch (in.op) {
    case Opcode::kMov:
    case Opcode::kCvta:
      return in.srcs.size() == 1 ? bits[0] : kAllBits;
    case Opcode::kCvt:
      return bits[0] == 0 ? 0 : kAllBits;
    case Opcode::kAnd:
      return by_constant() ? bits[0] & constant : bits[0] | bits[1];
    case Opcode::kOr:
    case Opcode::kXor:
      return bits[0] | bits[1];
    case Opcode::kShl:
      return by_constant() && constant < 64 ? bits[0] << constant
             : (bits[0] | bits[1]) == 0     ? 0
                                            : kAllBits;
    case Opcode::kShr: {
      if (!by_constant() || constant >= 64) return (bits[0] | bits[1]) == 0 ? 0 : kAllBits;
      const uint64_t kept = wide ? bits[0] : bits[0] & 0xffffffffu;
      const bool sign = in.mod.type == Type::kS32 ? (kept >> 31 & 1) != 0 : (kept >> 63) != 0;
      return sign && (in.mod.type == Type::kS32 || in.mod.type == Type::kS64) ? kAllBits
                                                                              : kept >> constant;
    }
    case Opcode::kAdd:
    case Opcode::kSub:
      return from_lowest(bits[0] | bits[1]);
    case Opcode::kMul:
    case Opcode::kMul24:
    case Opcode::kMad:
    case Opcode::kMad24:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kNot:
    case Opcode::kNeg:
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kBfe:
    case Opcode::kSelp:
      return std::all_of(bits.begin(), bits.end(), [](uint64_t b) { return b == 0; }) ? 0
                                                                                      : kAllBits;
    default:
      return kAllBits;
  }
}

bool SharedArrays::is_fixed(const Scope& scope, RegId reg, InstrId at, int depth) const {
  const InstrId d = depth > kMaxDepth ? kNone : definition(reg, at);
  if (d == kNone) return false;
  if (!is_inside(scope, d)) return true;
  const Instruction& in = kernel_->instructions[d];
  if (in.op == Opcode::kLd) return in.mod.space == Space::kParam;
  return std::all_of(in.srcs.begin(), in.srcs.end(), [&](const Operand& o) {
    return !is_register(o) || is_fixed(scope, o.reg, d, depth + 1);
  });
}

std::optional<SharedArrays::Range> SharedArrays::range_of(const Scope& scope, const Operand& o,
                                                          InstrId at, int depth) const {
  if (is_register(o)) return range_of(scope, o.reg, at, depth);
  Range range;
  if (is_immediate(o)) {
    range.low = range.high = signed_bits(o);
    return range;
  }
  if (o.kind == Operand::Kind::kSymbol) {
    range.low = range.high = static_cast<int64_t>(o.bits);
    return range;  // where the array begins; all accesses of a piece are to one
  }
  if (o.kind != Operand::Kind::kSpecial || varying(o, at, 0) != 31) return std::nullopt;
  range.high = 31;
  if (o.special == SpecialReg::kTidX) range.uniform[kWarpBase] = 1;
  return range;
}

std::optional<SharedArrays::Range> SharedArrays::range_of(const Scope& scope, RegId reg, InstrId at,
                                                          int depth) const {
  // A sum of ranges, one of them times a constant.
  const auto add = [](std::optional<Range> a, const std::optional<Range>& b,
                      int64_t factor) -> std::optional<Range> {
    if (!a || !b) return std::nullopt;
    for (const auto& [value, n] : b->uniform)
      if ((a->uniform[value] += n * factor) == 0) a->uniform.erase(value);
    a->low += factor > 0 ? b->low * factor : b->high * factor;
    a->high += factor > 0 ? b->high * factor : b->low * factor;
    constexpr int64_t kMost = int64_t{1} << 32;
    if (a->high - a->low >= kMost) return std::nullopt;
    return a;
  };
  const auto bounded = [](int64_t high) {
    Range range;
    range.high = high;
    return range;
  };
  const InstrId d = depth > kMaxDepth ? kNone : definition(reg, at);
  if (d == kNone) return std::nullopt;
  const auto as_uniform = [&]() -> std::optional<Range> {
    if (varying(reg, at, 0) != 0 || !is_fixed(scope, reg, at, 0)) return std::nullopt;
    Range range;
    range.uniform[d] = 1;
    return range;
  };
  const Instruction& in = kernel_->instructions[d];
  const auto source = [&](size_t i) { return range_of(scope, in.srcs[i], d, depth + 1); };
  const auto constant_at = [&](size_t i) -> std::optional<int64_t> {
    if (i >= in.srcs.size() || !is_immediate(in.srcs[i])) return std::nullopt;
    return signed_bits(in.srcs[i]);
  };
  std::optional<Range> found;
  const bool narrow = ptx::size_of(in.mod.type) == 4;
  switch (in.op) {
    case Opcode::kMov:
      if (in.srcs.size() == 1 && in.dsts.size() == 1) found = source(0);
      break;
    case Opcode::kAdd:
      if (narrow) found = add(source(0), source(1), 1);
      break;
    case Opcode::kSub:
      if (narrow) found = add(source(0), source(1), -1);
      break;
    case Opcode::kShl:
      if (const auto k = constant_at(1); narrow && k && *k >= 0 && *k < 31)
        found = add(Range{}, source(0), int64_t{1} << *k);
      break;
    case Opcode::kMul:
      if (const auto k = constant_at(1);
          narrow && k && *k != 0 && in.mod.mul_part == ptx::MulPart::kLo)
        found = add(Range{}, source(0), *k);
      break;
    case Opcode::kMad:
      if (const auto k = constant_at(1);
          narrow && k && *k != 0 && in.mod.mul_part == ptx::MulPart::kLo)
        found = add(source(2), source(0), *k);
      break;
    case Opcode::kAnd:
      // Lanes agree on what they and with a constant, or it is at most that constant.
      if (const auto k = constant_at(1); narrow && k && *k >= 0) found = bounded(*k);
      break;
    case Opcode::kShr:
      if (const auto k = constant_at(1); in.mod.type == Type::kU32 && k && *k > 0 && *k < 32)
        found = bounded(int64_t{0xffffffff} >> *k);
      break;
    case Opcode::kBfe:
      if (const auto n = constant_at(2); in.mod.type == Type::kU32 && n && *n >= 0 && *n < 32)
        found = bounded((int64_t{1} << *n) - 1);
      break;
    case Opcode::kRem:
      if (const auto k = constant_at(1); in.mod.type == Type::kU32 && k && *k > 0)
        found = bounded(*k - 1);
      break;
    case Opcode::kMin:
      if (const auto k = constant_at(1); in.mod.type == Type::kU32 && k && *k >= 0)
        found = bounded(*k);
      break;
    case Opcode::kLd:
      if (in.mod.vector == 1 && in.mod.type == Type::kU8) found = bounded(0xff);
      if (in.mod.vector == 1 && in.mod.type == Type::kU16) found = bounded(0xffff);
      break;
    case Opcode::kCvt:
      if (in.mod.src_type == Type::kU8) found = bounded(0xff);
      if (in.mod.src_type == Type::kU16) found = bounded(0xffff);
      break;
    default:
      break;
  }
  const std::optional<Range> uniform = as_uniform();
  // A warp's own base is one place; where its definition has bounds, these would be all warps'.
  return uniform && (!found || !found->uniform.empty() || found->low != found->high) ? uniform
                                                                                     : found;
}

uint32_t SharedArrays::footprint(const Scope& scope, const std::vector<InstrId>& accesses) const {
  const Access& first = accesses_.at(accesses[0]);
  const auto whole = static_cast<uint32_t>(kernel_->symbols[first.symbol].size);
  std::optional<Range> all;
  for (const InstrId i : accesses) {
    const Address& address = kernel_->instructions[i].address;
    std::optional<Range> one = Range{};
    if (address.base != kNone) one = range_of(scope, address.base, i, 0);
    if (!one) return whole;
    one->low += address.offset;
    one->high += address.offset + accesses_.at(i).bytes;
    if (!all) {
      all = one;
      continue;
    }
    if (one->uniform != all->uniform) return whole;
    all->low = std::min(all->low, one->low);
    all->high = std::max(all->high, one->high);
  }
  return static_cast<uint32_t>(std::min<int64_t>(whole, all->high - all->low));
}

std::optional<SharedArrays::Update> SharedArrays::update_at(InstrId load) const {
  const Instruction& ld = kernel_->instructions[load];
  if (ld.op != Opcode::kLd || ld.mod.vector != 1 || ld.dsts.size() != 1) return std::nullopt;
  const RegId loaded = ld.dsts[0];
  if (loaded == kNone || definitions_[loaded].size() != 1 || uses_[loaded].size() != 1)
    return std::nullopt;
  const InstrId at = uses_[loaded][0];
  const Instruction& op = kernel_->instructions[at];
  if (op.dsts.size() != 1 || op.mod.carry_out || op.mod.saturate) return std::nullopt;
  const auto reads = [&](size_t i) {
    return i < op.srcs.size() && is_register(op.srcs[i]) && op.srcs[i].reg == loaded;
  };
  Update update;
  switch (op.op) {
    case Opcode::kAdd:
      if (reads(0) || reads(1)) update.op = AtomicOp::kAdd;
      break;
    case Opcode::kSub:
      if (reads(0)) update.op = AtomicOp::kAdd;
      break;
    case Opcode::kMad:
      if (reads(2) && op.mod.mul_part == ptx::MulPart::kLo) update.op = AtomicOp::kAdd;
      break;
    case Opcode::kOr:
      update.op = AtomicOp::kOr;
      break;
    case Opcode::kXor:
      update.op = AtomicOp::kXor;
      break;
    default:
      return std::nullopt;
  }
  const RegId sum = op.dsts[0];
  if (update.op == AtomicOp::kNone || !is_integer(op.mod.type) || !is_integer(ld.mod.type) ||
      ptx::size_of(op.mod.type) != ptx::size_of(ld.mod.type) || sum == kNone ||
      definitions_[sum].size() != 1 || uses_[sum].size() != 1)
    return std::nullopt;
  update.store = uses_[sum][0];
  const Instruction& st = kernel_->instructions[update.store];
  const auto same_place = [&] {
    return st.op == Opcode::kSt && st.mod.space == Space::kShared && st.mod.vector == 1 &&
           st.srcs.size() == 1 && is_register(st.srcs[0]) && st.srcs[0].reg == sum &&
           ptx::size_of(st.mod.type) == ptx::size_of(ld.mod.type) &&
           st.address.base == ld.address.base && st.address.symbol == ld.address.symbol &&
           st.address.offset == ld.address.offset;
  };
  const auto same_guard = [&](const Instruction& i) {
    return i.guard == ld.guard && i.guard_negated == ld.guard_negated;
  };
  if (!same_place() || !same_guard(op) || !same_guard(st) || load >= at || at >= update.store ||
      block_of_[load] != block_of_[update.store] || !accesses_.contains(update.store))
    return std::nullopt;
  // Neither the place nor the guard may change in between.
  for (const RegId r : {ld.address.base, ld.guard}) {
    if (r == kNone) continue;
    for (const InstrId d : definitions_[r])
      if (d > load && d < update.store) return std::nullopt;
  }
  return update;
}

std::optional<InstrId> SharedArrays::not_accumulating(const std::vector<InstrId>& accesses) const {
  AtomicOp of_all = AtomicOp::kNone;
  Type of_type = Type::kNone;
  std::set<InstrId> stores;  // that end an update
  const auto joins = [&](AtomicOp op, Type type) {
    if (!begins_with_zero(op, type)) return false;
    const bool fits =
        of_all == AtomicOp::kNone || (of_all == op && ptx::size_of(of_type) == ptx::size_of(type));
    of_all = op;
    of_type = type;
    return fits;
  };
  for (const InstrId i : accesses) {
    const Instruction& in = kernel_->instructions[i];
    if (in.op == Opcode::kAtom || in.op == Opcode::kRed) {
      // The value in front of the sum is not here.
      const bool unread = std::all_of(in.dsts.begin(), in.dsts.end(),
                                      [&](RegId r) { return r == kNone || uses_[r].empty(); });
      if (!unread || !joins(in.mod.atomic, in.mod.type)) return i;
    } else if (in.op == Opcode::kLd) {
      const auto update = update_at(i);
      if (!update || !joins(update->op, in.mod.type)) return i;
      stores.insert(update->store);
    } else if (!stores.contains(i)) {
      return i;
    }
  }
  return std::nullopt;
}

const SharedAnnotation* SharedArrays::annotation_of(uint32_t symbol) const {
  for (const SharedAnnotation& a : model_->annotations)
    if (is_named(kernel_->symbols[symbol], a.array)) return &a;
  return nullptr;
}

SharedUse SharedArrays::use_of(const std::vector<BlockId>& blocks, BlockId entry,
                               InstrId first) const {
  SharedUse use;
  if (accesses_.empty()) return use;
  std::vector<InstrId> accesses;
  for (const BlockId b : blocks) {
    const Block& block = kernel_->blocks[b];
    const InstrId begin = b == entry ? std::max(first, block.first) : block.first;
    for (auto i = accesses_.lower_bound(begin);
         i != accesses_.end() && i->first < block.first + block.count; ++i)
      accesses.push_back(i->first);
  }
  if (accesses.empty()) return use;
  std::sort(accesses.begin(), accesses.end());
  const auto refuse = [&](SharedRefusal refusal, InstrId i) {
    use.refusal = refusal;
    use.instruction = i;
    return use;
  };
  for (const InstrId i : accesses) {
    const uint32_t symbol = accesses_.at(i).symbol;
    if (symbol == kNone) return refuse(SharedRefusal::kUnknown, i);
    if (use.symbol != kNone && use.symbol != symbol) return refuse(SharedRefusal::kSeveral, i);
    use.symbol = symbol;
  }
  const auto writes = [&](InstrId i) { return kernel_->instructions[i].op != Opcode::kLd; };
  const auto written = std::find_if(accesses.begin(), accesses.end(), writes);
  const uint64_t whole = kernel_->symbols[use.symbol].size;
  if (const SharedAnnotation* a = annotation_of(use.symbol)) {
    use.annotated = true;
    use.kind = a->kind;
    use.bytes = a->bytes;
    // An annotation that the code disproves is not believed.
    if (a->kind == SharedKind::kTable && written != accesses.end())
      return refuse(SharedRefusal::kPattern, *written);
    if (whole != 0 && a->bytes > whole) use.bytes = static_cast<uint32_t>(whole);
  } else {
    if (!model_->proves) return refuse(SharedRefusal::kPattern, accesses[0]);
    use.kind = written == accesses.end() ? SharedKind::kTable : SharedKind::kAccumulator;
    if (use.kind == SharedKind::kAccumulator) {
      if (const auto other = not_accumulating(accesses))
        return refuse(SharedRefusal::kPattern, *other);
    }
    if (whole == 0) return refuse(SharedRefusal::kUnknown, accesses[0]);
    Scope scope;
    scope.blocks.assign(kernel_->blocks.size(), false);
    for (const BlockId b : blocks) scope.blocks[b] = true;
    scope.entry = entry;
    scope.first = first;
    use.bytes = footprint(scope, accesses);
  }
  if (use.bytes > model_->capacity) return refuse(SharedRefusal::kFull, accesses[0]);
  return use;
}

}  // namespace nearwarp::compiler
