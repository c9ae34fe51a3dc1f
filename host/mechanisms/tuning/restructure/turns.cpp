#include "host/mechanisms/tuning/restructure/turns.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/error.h"

namespace nearwarp::compiler {

using ptx::Compare;
using ptx::Opcode;
using ptx::Space;
using ptx::SpecialReg;

namespace {

constexpr int kMaxDepth = 32;

bool is_register(const Operand& o) { return o.kind == Operand::Kind::kRegister; }
bool is_immediate(const Operand& o) { return o.kind == Operand::Kind::kImmediate; }
int64_t number(const Operand& o) { return static_cast<int32_t>(static_cast<uint32_t>(o.bits)); }

using Sum = Values::Sum;

Sum plus(Sum a, const Sum& b) {
  for (const auto& [term, n] : b)
    if ((a[term] += n) == 0) a.erase(term);
  return a;
}
Sum times(const Sum& a, const Sum& b) {
  Sum result;
  for (const auto& [s, n] : a)
    for (const auto& [t, m] : b) {
      std::vector<SpecialReg> both = s;
      both.insert(both.end(), t.begin(), t.end());
      std::sort(both.begin(), both.end());
      result = plus(std::move(result), {{both, n * m}});
    }
  return result;
}

bool in_loop(const Loop& loop, BlockId b) {
  return std::binary_search(loop.blocks.begin(), loop.blocks.end(), b);
}

}  // namespace

void refuse(const std::string& path, const Instruction& in, const std::string& what,
            const std::string& right) {
  throw Error(fmt::format("{} ({}:{}) - {}", what, path, in.ptx_line, right));
}

Values::Values(const Kernel& kernel)
    : kernel_(kernel),
      definitions_(kernel.registers.size()),
      uses_(kernel.registers.size()),
      block_of_(kernel.instructions.size(), kNone) {
  for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& in = kernel.instructions[i];
    for (const RegId r : in.dsts)
      if (r != kNone) definitions_[r].push_back(i);
    for (const Operand& o : in.srcs)
      if (is_register(o)) uses_[o.reg].push_back(i);
    if (in.address.base != kNone) uses_[in.address.base].push_back(i);
    if (in.guard != kNone) uses_[in.guard].push_back(i);
  }
  for (BlockId b = 0; b < kernel.blocks.size(); ++b)
    std::fill_n(block_of_.begin() + kernel.blocks[b].first, kernel.blocks[b].count, b);
}

InstrId Values::only(RegId reg) const {
  if (definitions_[reg].size() != 1) return kNone;
  const InstrId d = definitions_[reg][0];
  return kernel_.instructions[d].guard == kNone ? d : kNone;
}

std::optional<Sum> Values::sum_of(const Operand& o, int depth) const {
  if (depth > kMaxDepth) return std::nullopt;
  if (is_immediate(o)) return number(o) == 0 ? Sum{} : Sum{{{}, number(o)}};
  if (o.kind == Operand::Kind::kSpecial) return Sum{{{o.special}, 1}};
  if (!is_register(o) || only(o.reg) == kNone) return std::nullopt;
  const Instruction& in = kernel_.instructions[only(o.reg)];
  if (ptx::size_of(in.mod.type) != 4 || in.dsts.size() != 1) return std::nullopt;
  std::vector<Sum> sums;
  for (const Operand& source : in.srcs) {
    const auto sum = sum_of(source, depth + 1);
    if (!sum) return std::nullopt;
    sums.push_back(*sum);
  }
  const bool low = in.mod.mul_part == ptx::MulPart::kLo;
  switch (in.op) {
    case Opcode::kMov:
      if (sums.size() == 1) return sums[0];
      break;
    case Opcode::kAdd:
      return plus(sums[0], sums[1]);
    case Opcode::kMul:
      if (low) return times(sums[0], sums[1]);
      break;
    case Opcode::kMad:
      if (low) return plus(times(sums[0], sums[1]), sums[2]);
      break;
    case Opcode::kShl:
      if (is_immediate(in.srcs[1]) && number(in.srcs[1]) >= 0 && number(in.srcs[1]) < 31)
        return times(sums[0], {{{}, int64_t{1} << number(in.srcs[1])}});
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::string Values::base_of(RegId reg, int depth) const {
  const InstrId d = depth > kMaxDepth ? kNone : only(reg);
  if (d == kNone) return "";
  const Instruction& in = kernel_.instructions[d];
  if (in.op == Opcode::kLd && in.mod.space == Space::kParam && in.address.symbol != kNone &&
      in.address.base == kNone && in.address.offset == 0)
    return kernel_.symbols[in.address.symbol].name;
  if (in.op == Opcode::kMov || in.op == Opcode::kCvta || in.op == Opcode::kAdd) {
    std::string found;
    for (const Operand& o : in.srcs) {
      const std::string one = is_register(o) ? base_of(o.reg, depth + 1) : "";
      if (!one.empty() && !found.empty()) return "";
      if (!one.empty()) found = one;
    }
    return found;
  }
  return "";
}

std::optional<Values::Place> Values::place_of(RegId reg, int depth) const {
  const InstrId d = depth > kMaxDepth ? kNone : only(reg);
  if (d == kNone) return std::nullopt;
  const Instruction& in = kernel_.instructions[d];
  if (in.op == Opcode::kLd || in.op == Opcode::kCvta || in.op == Opcode::kMov) {
    const std::string base = base_of(reg);
    if (in.op == Opcode::kLd) return base.empty() ? std::nullopt : std::optional(Place{base});
    return in.srcs.size() == 1 && is_register(in.srcs[0]) ? place_of(in.srcs[0].reg, depth + 1)
                                                          : std::nullopt;
  }
  if (in.op != Opcode::kAdd || ptx::size_of(in.mod.type) != 8) return std::nullopt;
  for (const size_t k : {0, 1}) {
    if (!is_register(in.srcs[k])) continue;
    auto place = place_of(in.srcs[k].reg, depth + 1);
    const Operand& more = in.srcs[1 - k];
    if (!place) continue;
    if (is_immediate(more)) {
      place->offset += static_cast<int64_t>(more.bits);
      return place;
    }
    const InstrId scaled = is_register(more) ? only(more.reg) : kNone;
    if (scaled == kNone || place->index != kNone) return std::nullopt;
    const Instruction& mul = kernel_.instructions[scaled];
    if (mul.op != Opcode::kMul || mul.mod.mul_part != ptx::MulPart::kWide ||
        !is_register(mul.srcs[0]) || !is_immediate(mul.srcs[1]))
      return std::nullopt;
    place->index = mul.srcs[0].reg;
    place->scale = number(mul.srcs[1]);
    return place;
  }
  return std::nullopt;
}

std::optional<Values::Place> Values::place_of(const Address& address) const {
  if (address.base == kNone) return std::nullopt;
  auto place = place_of(address.base, 0);
  if (place) place->offset += address.offset;
  return place;
}

namespace {

/// Follows what find_turns() wants of one loop.
class Finder {
 public:
  Finder(const Kernel& kernel, const Values& values, const std::string& path, uint32_t loop)
      : kernel_(kernel), values_(values), path_(path), loop_(kernel.loops[loop]) {
    turns_.loop = loop;
  }

  Turns find(bool of_block) {
    find_end();
    find_step();
    find_begin(of_block);
    find_other_uses();
    find_guard();
    return turns_;
  }

 private:
  const Instruction& at(InstrId i) const { return kernel_.instructions[i]; }
  const Instruction& last_of(BlockId b) const {
    return at(kernel_.blocks[b].first + kernel_.blocks[b].count - 1);
  }
  bool inside(InstrId i) const { return in_loop(loop_, values_.block_of(i)); }
  [[noreturn]] void refuse_loop(const Instruction& in, const std::string& what) const {
    refuse(path_, in, what,
           "right is a loop that ends with 'index < bound', left there and nowhere else, in which "
           "every thread begins with its own number and goes on by the number of threads");
  }

  /// The comparison at the loop's end.
  void find_end() {
    const Instruction& first = at(kernel_.blocks[loop_.header].first);
    if (loop_.latches.size() != 1) refuse_loop(first, "the loop goes on from several places");
    const BlockId latch = loop_.latches[0];
    for (const BlockId b : loop_.blocks)
      for (const BlockId s : kernel_.blocks[b].successors)
        if (b != latch && !in_loop(loop_, s))
          refuse_loop(last_of(b), "the loop may be left in its middle");
    const Instruction& branch = last_of(latch);
    if (branch.op != Opcode::kBra || branch.guard == kNone || branch.guard_negated ||
        branch.targets[0] != loop_.header || values_.definitions(branch.guard).size() != 1 ||
        values_.uses(branch.guard).size() != 1)
      refuse_loop(branch, "the loop does not end with a branch on one comparison");
    const InstrId test = values_.definitions(branch.guard)[0];
    const Instruction& setp = at(test);
    const ptx::Type type = setp.mod.type;
    if (setp.op != Opcode::kSetp || setp.guard != kNone || values_.block_of(test) != latch ||
        setp.mod.bool_op != ptx::BoolOp::kNone || setp.mod.compare != Compare::kLt ||
        (type != ptx::Type::kU32 && type != ptx::Type::kS32) || setp.srcs.size() != 2 ||
        !is_register(setp.srcs[0]))
      refuse_loop(setp, "the loop does not end with 'index < bound'");
    turns_.index = setp.srcs[0].reg;
    turns_.bound = setp.srcs[1];
    turns_.is_signed = type == ptx::Type::kS32;
    turns_.bounded.push_back(test);
  }

  /// The index has two definitions: in front of the loop, and one that adds to it at its end.
  void find_step() {
    const std::vector<InstrId>& all = values_.definitions(turns_.index);
    const Instruction& test = at(turns_.bounded[0]);
    if (all.size() != 2) refuse_loop(test, "the index is set in more places than two");
    for (const InstrId d : all) (inside(d) ? turns_.step : turns_.begin) = d;
    if (turns_.step == kNone || turns_.begin == kNone)
      refuse_loop(test, "the index is not set once in front of the loop and once in it");
    const Instruction& add = at(turns_.step);
    if (add.op != Opcode::kAdd || add.guard != kNone || !is_register(add.srcs[0]) ||
        add.srcs[0].reg != turns_.index || values_.block_of(turns_.step) != loop_.latches[0] ||
        turns_.step > turns_.bounded[0])
      refuse_loop(add, "the index is not added to at the loop's end");
  }

  void find_begin(bool of_block) {
    const Instruction& begin = at(turns_.begin);
    const Instruction& add = at(turns_.step);
    if (begin.guard != kNone) refuse_loop(begin, "the index is set under a condition");
    // The index's value as a register's would be: the only definition in front of the loop.
    first_ = sum_of_begin(begin);
    const auto& first = first_;
    const auto step = values_.sum_of(add.srcs[1]);
    if (!first) refuse_loop(begin, "the index does not begin with the thread's number");
    if (!step) refuse_loop(add, "the step is not the number of threads");
    using S = SpecialReg;
    const auto matches = [&](const Sum& wanted_first, const Sum& wanted_step) {
      return *first == wanted_first && *step == wanted_step;
    };
    const Sum tid = {{{S::kTidX}, 1}};
    if (of_block && matches(tid, {{{S::kNtidX}, 1}})) return;
    if (!of_block &&
        matches(plus(tid, {{{S::kNtidX, S::kCtaidX}, 1}}), {{{S::kNtidX, S::kNctaidX}, 1}}))
      return;
    // The step may have the block's size as a number, too.
    const std::vector<S> term = of_block ? std::vector<S>{} : std::vector<S>{S::kNctaidX};
    const auto size = step->find(term);
    if (size != step->end() && size->second > 0) {
      turns_.block_threads = size->second;
      if (of_block && matches(tid, {{{}, size->second}})) return;
      if (!of_block &&
          matches(plus(tid, {{{S::kCtaidX}, size->second}}), {{{S::kNctaidX}, size->second}}))
        return;
    }
    refuse_loop(begin, of_block ? "threads of a block do not take elements in turns here"
                                : "all threads of the grid do not take elements in turns here");
  }

  std::optional<Sum> sum_of_begin(const Instruction& begin) const {
    std::vector<Sum> sums;
    for (const Operand& o : begin.srcs) {
      const auto sum = values_.sum_of(o);
      if (!sum) return std::nullopt;
      sums.push_back(*sum);
    }
    if (begin.op == Opcode::kMov && sums.size() == 1) return sums[0];
    if (begin.op == Opcode::kAdd) return plus(sums[0], sums[1]);
    if (begin.op == Opcode::kMad && begin.mod.mul_part == ptx::MulPart::kLo)
      return plus(times(sums[0], sums[1]), sums[2]);
    return std::nullopt;
  }

  /// In front of the loop the index may be compared with the same bound; behind it nobody wants it.
  void find_other_uses() {
    for (const InstrId use : values_.uses(turns_.index)) {
      const Instruction& in = at(use);
      if (inside(use)) {
        const bool after = values_.block_of(use) == values_.block_of(turns_.step) &&
                           use > turns_.step && use != turns_.bounded[0];
        if (after) refuse_loop(in, "the next index is read before the loop's end");
        continue;
      }
      const bool same_bound = in.srcs.size() == 2 && is_bound(in.srcs[1]);
      if (in.op != Opcode::kSetp || in.mod.compare != Compare::kGe || !same_bound ||
          !is_register(in.srcs[0]) || in.srcs[0].reg != turns_.index ||
          in.mod.type != at(turns_.bounded[0]).mod.type)
        refuse_loop(in, "the index is read outside of the loop");
      turns_.bounded.push_back(use);
    }
    if (!is_register(turns_.bound)) return;
    const InstrId d = values_.only(turns_.bound.reg);
    const BlockId b = d == kNone ? kNone : values_.block_of(d);
    if (d == kNone || d > turns_.begin || (b != 0 && b != values_.block_of(turns_.begin)) ||
        (at(d).op != Opcode::kLd || at(d).mod.space != Space::kParam))
      refuse_loop(at(turns_.bounded[0]),
                  "the bound is neither a number nor a parameter read before");
  }

  /// A thread comes to the loop only if its number is below the bound: there is a branch around it.
  /// It comes from the block in front, so that another branch fits in between.
  void find_guard() const {
    const Instruction& first = at(kernel_.blocks[loop_.header].first);
    for (const BlockId p : kernel_.blocks[loop_.header].predecessors)
      if (!in_loop(loop_, p) &&
          (p + 1 != loop_.header || kernel_.blocks[p].successors.size() != 1 ||
           last_of(p).op == Opcode::kBra || last_of(p).op == Opcode::kBrx))
        refuse_loop(first, "the loop is entered by a branch");
    for (BlockId b = loop_.header; b != kNone; b = kernel_.blocks[b].idom) {
      const BlockId before = kernel_.blocks[b].idom;
      if (before != kNone && in_loop(loop_, before)) continue;
      if (before != kNone && goes_around(before, b)) return;
    }
    refuse_loop(first, "the loop is entered without asking whether there is an element");
  }
  /// Does block `before` go on to `next` only with a number below the bound?
  bool goes_around(BlockId before, BlockId next) const {
    const Block& block = kernel_.blocks[before];
    if (block.count == 0 || kernel_.blocks[next].predecessors.size() != 1) return false;
    const Instruction& branch = last_of(before);
    if (branch.op != Opcode::kBra || branch.guard == kNone || branch.guard_negated ||
        block.successors.size() != 2 || block.successors[1] != next ||
        values_.only(branch.guard) == kNone)
      return false;
    const Instruction& test = at(values_.only(branch.guard));
    if (test.op != Opcode::kSetp || test.mod.compare != Compare::kGe || test.srcs.size() != 2 ||
        test.mod.bool_op != ptx::BoolOp::kNone || test.mod.type != at(turns_.bounded[0]).mod.type ||
        !is_bound(test.srcs[1]) || !is_register(test.srcs[0]))
      return false;
    return test.srcs[0].reg == turns_.index || values_.sum_of(test.srcs[0]) == first_;
  }
  bool is_bound(const Operand& o) const {
    return o.kind == turns_.bound.kind && o.reg == turns_.bound.reg && o.bits == turns_.bound.bits;
  }

  const Kernel& kernel_;
  const Values& values_;
  const std::string& path_;
  const Loop& loop_;
  Turns turns_;
  std::optional<Sum> first_;  ///< what the index begins with
};

}  // namespace

Turns find_turns(const Kernel& kernel, const Values& values, const std::string& path,
                 const std::string& parameter, bool of_block) {
  uint32_t found = kNone;
  InstrId first = kNone;
  for (InstrId i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction& in = kernel.instructions[i];
    const uint32_t loop = kernel.blocks[values.block_of(i)].loop;
    if (in.address.base == kNone || values.base_of(in.address.base) != parameter || loop == kNone)
      continue;
    if (found != kNone && found != loop)
      refuse(path, in, fmt::format("a second loop accesses {}", parameter),
             "right is an array that one loop accesses");
    found = loop;
    first = i;
  }
  if (found == kNone)
    throw Error(
        fmt::format("{}: no loop of {} accesses what {} points to - name the parameter of an "
                    "array that a loop goes through",
                    path, kernel.name, parameter));
  const Turns turns = Finder(kernel, values, path, found).find(of_block);
  const auto place = values.place_of(kernel.instructions[first].address);
  if (!place || place->index != turns.index)
    refuse(path, kernel.instructions[first], "the array is not accessed at the loop's index",
           "right is array[index]");
  return turns;
}

}  // namespace nearwarp::compiler
